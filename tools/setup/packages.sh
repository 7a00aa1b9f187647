#!/bin/bash
# packages.sh GROUP...: installs what is missing of these groups of packages.txt, and says what it installs.
# Exit 2 with the exact command where it may not install.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'tessera setup: %s\n' "$*" >&2; }

# The names in the groups asked for.
wanted() {
  awk -v groups=" $* " '
    /^\[/ { group = substr($0, 2, length($0) - 2); next }
    /^[a-z0-9]/ && index(groups, " " group " ") { print $1 }' "$here/packages.txt"
}

missing() {
  local known
  # Status lines of the packages that dpkg knows; an unknown one makes dpkg-query fail, which is an answer here.
  known=$(dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' "$@" 2>/dev/null | awk '$2 == "ii" {print $1}' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$known")
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "this machine has no apt. Install the counterparts of tools/setup/packages.txt, then run"
  say "  ./tessera setup --no-packages"
  exit 2
fi

mapfile -t names < <(wanted "$@")
mapfile -t absent < <(missing "${names[@]}")
if [ ${#absent[@]} -eq 0 ]; then exit 0; fi

command="apt-get install --no-install-recommends -y ${absent[*]}"
if [ "$(id -u)" -eq 0 ]; then
  asRoot=()
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
  asRoot=(sudo)
else
  say "these Debian packages are missing, and only root can install them. Run as root, then ./tessera again:"
  printf '  apt-get update && %s\n' "$command" >&2
  exit 2
fi

say "installing with apt: ${absent[*]}"
apt() {
  "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}
# A package list of another day names files that the mirror no longer has; but a mirror that cannot be asked is
# no reason to stop while the packages may still be there.
apt update || say "apt-get update failed; trying with the lists of before"
apt install --no-install-recommends -y "${absent[@]}"
