#!/bin/bash
# kokkos.sh prefix|build: prints where the pinned Kokkos is (or would be) installed; build makes it so first.
# It lies in a cache outside the build trees, named by everything that shapes it, and is built once per machine.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
action=${1:?usage: kokkos.sh prefix|build}

say() { printf 'tessera setup: %s\n' "$*" >&2; }

version=$(awk '$1 == "kokkos" {print $2}' "$root/cmake/dependencies.txt")
compiler=${CXX:-c++}
flags="-fPIE -fstack-protector-strong -ffp-contract=off"
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 -DBUILD_SHARED_LIBS=OFF -DKokkos_ENABLE_SERIAL=ON
  -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF "-DCMAKE_CXX_FLAGS=$flags")
key=$(printf '%s\n' "$("$compiler" --version | sed -n "1s/^[^ ]* //p")" "$(uname -m)" "${options[@]}" | sha256sum | cut -c 1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tessera
prefix=$cache/kokkos-$version-$key

if [ "$action" = prefix ] || [ -f "$prefix/complete" ]; then
  printf '%s\n' "$prefix"
  exit 0
fi

mkdir -p "$cache"
# Two builds at once (two checkouts, two ranks) wait for each other; the second finds the work done.
exec 9>"$cache/kokkos.lock"
flock 9
if [ ! -f "$prefix/complete" ]; then
  archive=$("$here/fetch.sh" kokkos)
  work=$(mktemp -d "$cache/kokkos-build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  log=$cache/kokkos-build.log
  say "building Kokkos $version into $prefix (once on this machine; log in $log)"
  tar -xzf "$archive" -C "$work"
  generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
  if ! { cmake -S "$work"/kokkos-* -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_INSTALL_PREFIX="$prefix" "${options[@]}" &&
    cmake --build "$work/build" -j "$(nproc)" && cmake --install "$work/build"; } >"$log" 2>&1; then
    say "Kokkos did not build; the last lines of $log:"
    tail -n 20 "$log" >&2
    exit 1
  fi
  touch "$prefix/complete"
fi
printf '%s\n' "$prefix"
