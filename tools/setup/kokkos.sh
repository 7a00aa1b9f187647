#!/bin/bash
# kokkos.sh prefix|build [cpu|cuda]: prints where the pinned Kokkos is (or would be) installed; build makes it so first.
# It lies in a cache outside the build trees, named by everything that shapes it, and is built once per machine and
# flavour. The flavour cuda needs nvcc, and takes its architecture from TESSERA_CUDA_ARCHS (default 80;90): Kokkos
# knows one only, so it is the lowest, whose code newer devices translate at the start.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
action=${1:?usage: kokkos.sh prefix|build [cpu|cuda]}
flavour=${2:-cpu}

say() { printf 'tessera setup: %s\n' "$*" >&2; }

version=$(awk '$1 == "kokkos" {print $2}' "$root/cmake/dependencies.txt")
compiler=${CXX:-c++}
flags="-fPIE -fstack-protector-strong -ffp-contract=off"
options=(-DCMAKE_CXX_STANDARD=20 -DBUILD_SHARED_LIBS=OFF -DKokkos_ENABLE_SERIAL=ON
  -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF "-DCMAKE_CXX_FLAGS=$flags")
identity=$("$compiler" --version | sed -n "1s/^[^ ]* //p")
if [ "$flavour" = cuda ]; then
  nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  if ! [ -x "$nvcc" ]; then
    say "Kokkos with CUDA needs nvcc, which is neither on the PATH nor in /usr/local/cuda/bin; CUDACXX names another"
    exit 2
  fi
  identity+=" $("$nvcc" --version | sed -n 's/.*release.*, V//p')"
  case $(grep -oE '[0-9]+' <<<"${TESSERA_CUDA_ARCHS:-80;90}" | sort -n | sed -n 1p) in
    80) arch=AMPERE80 ;;
    86) arch=AMPERE86 ;;
    89) arch=ADA89 ;;
    90) arch=HOPPER90 ;;
    100) arch=BLACKWELL100 ;;
    120) arch=BLACKWELL120 ;;
    *)
      say "TESSERA_CUDA_ARCHS=${TESSERA_CUDA_ARCHS:-}: the lowest must be one of 80 86 89 90 100 120"
      exit 2
      ;;
  esac
  # shellcheck disable=SC2086  # the host flags are words
  hostFlags=$(printf -- '-Xcompiler=%s ' $flags)
  # The host flags reach the compiler behind nvcc word by word. No fused multiply-add on either side. CMake knows
  # nvcc's option for C++20 since 3.25.2 only, so it is given here.
  options+=(-DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON "-DKokkos_ARCH_$arch=ON"
    "-DCMAKE_CUDA_FLAGS=-std=c++20 -fmad=false $hostFlags")
  machine=(-DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_HOST_COMPILER="$(command -v "$compiler")")
  options+=(-DCMAKE_BUILD_TYPE=Release)
else
  # On the CPU Kokkos carries names of tasks to its tools and runs no loop of ours, so it is built quickly: a third of
  # the seconds.
  options+=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DCMAKE_UNITY_BUILD=ON)
  machine=()
fi
key=$(printf '%s\n' "$identity" "$(uname -m)" "${options[@]}" | sha256sum | cut -c 1-12)
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
  say "building Kokkos $version ($flavour) into $prefix (once on this machine; log in $log)"
  tar -xzf "$archive" -C "$work"
  if [ "$flavour" = cuda ]; then
    # Kokkos asks for CMake 3.25.2 because of nvcc's option for C++20, which is among the options above.
    sed -i 's/VERSION_LESS "3\.25\.2"/VERSION_LESS "3.25.0"/' "$work"/kokkos-*/cmake/kokkos_enable_options.cmake
  fi
  generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
  if ! { cmake -S "$work"/kokkos-* -B "$work/build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    "${machine[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" "${options[@]}" &&
    cmake --build "$work/build" -j "$(nproc)" && cmake --install "$work/build"; } >"$log" 2>&1; then
    say "Kokkos did not build; the last lines of $log:"
    tail -n 20 "$log" >&2
    exit 1
  fi
  touch "$prefix/complete"
fi
printf '%s\n' "$prefix"
