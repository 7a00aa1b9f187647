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

# shellcheck source=tools/setup/build_once.sh
. "$here/build_once.sh"

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

build() {
  if [ "$flavour" = cuda ]; then
    # Kokkos asks for CMake 3.25.2 because of nvcc's option for C++20, which is among the options above.
    sed -i 's/VERSION_LESS "3\.25\.2"/VERSION_LESS "3.25.0"/' cmake/kokkos_enable_options.cmake || return 1
  fi
  local generator
  generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
  cmake -S . -B ../build -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
    "${machine[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" "${options[@]}" &&
    cmake --build ../build -j "$(nproc)" && cmake --install ../build
}
buildOnce kokkos "$prefix" "Kokkos $version ($flavour)" build
printf '%s\n' "$prefix"
