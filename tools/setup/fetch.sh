#!/bin/bash
# fetch.sh NAME: prints the path of the pinned archive of NAME (a line of cmake/dependencies.txt), SHA-256 checked.
# Looked for in this order: the cache, the folder $TESSERA_ARCHIVES, the upstream page, the pools of the Debian
# mirrors that apt is configured with. Exit 1 where none has it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
name=${1:?usage: fetch.sh NAME}

say() { printf 'tessera setup: %s\n' "$*" >&2; }

read -r version sha256 upstream pool < <(
  awk -v name="$name" '$1 == name {print $2, $3, $4, $5}' "$root/cmake/dependencies.txt") || true
if [ -z "${sha256:-}" ]; then
  say "cmake/dependencies.txt has no line for '$name'"
  exit 2
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tessera/archives
archive=$cache/$name-$version.tar.gz
mkdir -p "$cache"

isIntact() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$sha256" ]; }

# keep FILE PLACE: moves FILE to its place in the cache if it is the pinned one, else says what was wrong.
keep() {
  if isIntact "$1"; then
    mv -f "$1" "$archive"
    say "$name $version from $2"
    printf '%s\n' "$archive"
    exit 0
  fi
  say "refused $name from $2: its SHA-256 is not the pinned one"
}

# tryUrl URL: waits at most 5 s for a connection, then 2 minutes for the file.
tryUrl() {
  if command -v curl >/dev/null; then
    curl -fsSL --connect-timeout 5 --max-time 120 -o "$temporary" "$1" 2>/dev/null || return 0
  elif command -v wget >/dev/null; then
    wget -q --connect-timeout=5 --dns-timeout=5 --tries=1 --read-timeout=60 -O "$temporary" "$1" || return 0
  else
    return 0
  fi
  keep "$temporary" "$1"
}

if isIntact "$archive"; then
  printf '%s\n' "$archive"
  exit 0
fi
temporary=$(mktemp "$cache/$name.XXXXXX")
trap 'rm -f "$temporary"' EXIT

if [ -n "${TESSERA_ARCHIVES:-}" ]; then
  for file in "$TESSERA_ARCHIVES/$name-$version.tar.gz" "$TESSERA_ARCHIVES/$(basename "$pool")"; do
    if [ -f "$file" ]; then
      cp "$file" "$temporary"
      keep "$temporary" "$file"
    fi
  done
fi
tryUrl "$upstream"
if command -v apt-get >/dev/null; then
  # shellcheck disable=SC2016  # apt expands it, not the shell
  while read -r base; do
    tryUrl "${base%/}/$pool"
  done < <(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -E '^https?://' | sort -u)
fi
say "$name $version cannot be had: neither \$TESSERA_ARCHIVES, nor upstream, nor a Debian mirror of apt has it"
exit 1
