#!/bin/bash
# build_once.sh: sourced by kokkos.sh and hypre.sh, which have set `here`: how a pinned archive becomes a library in the
# cache.

say() { printf 'tessera setup: %s\n' "$*" >&2; }

# buildOnce NAME PREFIX WHAT BUILD: unless PREFIX is complete, calls BUILD, a function, in the folder of the unpacked
# archive of NAME; it installs into PREFIX and returns 0, and what it prints goes into a log. WHAT is for the reader. Two
# builds at once (two checkouts, two ranks) wait for each other; the second finds the work done.
buildOnce() {
  local name=$1 prefix=$2 what=$3 build=$4
  local cache log archive work
  cache=$(dirname "$prefix")
  log=$cache/$name-build.log
  mkdir -p "$cache"
  exec 9>"$cache/$name.lock"
  flock 9
  if [ -f "$prefix/complete" ]; then return; fi
  archive=$("$here/fetch.sh" "$name")
  work=$(mktemp -d "$cache/$name-build.XXXXXX")
  # shellcheck disable=SC2064  # the name of now: at the exit it is out of scope
  trap "rm -rf '$work'" EXIT
  say "building $what into $prefix (once on this machine; log in $log)"
  tar -xzf "$archive" -C "$work"
  if ! (cd "$work/$name"-* && "$build") >"$log" 2>&1; then
    say "$name did not build; the last lines of $log:"
    tail -n 20 "$log" >&2
    exit 1
  fi
  touch "$prefix/complete"
}
