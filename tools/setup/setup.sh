#!/bin/bash
# setup.sh: Debian packages, Kokkos, configure, build. Called by ./tessera; see usage below.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'END'
usage: ./tessera setup [--preset NAME] [--parts LIST] [--target NAME]... [--develop] [--plot] [--with-hypre]
                       [--no-packages] [--no-build]

Makes this machine ready and builds Tessera. Every other ./tessera command does it by itself on first use.

  --preset NAME   what to build: release (default), cuda, debug, checked, asan, tsan
  --parts LIST    build a program of these parts alone, for example "heat;euler" (default: all), without tests:
                  what the first deck needs is there sooner, and ./tessera adds what a later one needs
  --target NAME   build only this (default: the program alone; "all" adds the tests)
  --develop       install clang and the checkers too, which the presets asan and tsan and .ci/run need
  --plot          only what pictures and reports need: Python packages of Debian, ffmpeg, and an environment of
                  its own, build/python; nothing is built
  --with-hypre    build hypre as well, for decks with solver.library = "hypre" (some minutes, once on this machine)
  --no-packages   leave the machine's packages alone; the list is tools/setup/packages.txt
  --no-build      stop after the packages and Kokkos

Needs root or sudo only where a Debian package is missing; without either it prints the command and exits 2.
TESSERA_ARCHIVES=FOLDER  a folder that holds the pinned archives of cmake/dependencies.txt, for machines offline
TESSERA_CUDA_ARCHS=LIST  compute capabilities of the preset cuda, without the dot (default "80;90")
TESSERA_JOBS=N           how many compilers at once (default: one a core, and at least 2 GiB of memory each)
END
}

preset=release
parts=all
targets=()
groups=(build)
packages=yes
build=yes
implicit=no
benchmarks=no
plot=no
hypre=no
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --preset) preset=${2:?--preset needs a name}; shift ;;
    --parts) parts=${2:?--parts needs a list}; shift ;;
    --target) targets+=("${2:?--target needs a name}"); shift ;;
    --develop) groups=(build test bundle plot develop) ;;
    --test) groups=(build test bundle plot) ;;
    --bundle) groups=(build test bundle) benchmarks=yes ;; # from bundle.sh
    --plot) groups=(plot) plot=yes ;;
    --with-hypre) hypre=yes ;;
    --no-packages) packages=no ;;
    --no-build) build=no ;;
    --implicit) implicit=yes ;; # from the launcher: do not wait for a network again that was not there before
    *)
      printf 'tessera setup: unknown option "%s"; see ./tessera setup --help\n' "$1" >&2
      exit 2
      ;;
  esac
  shift
done
if [ "$preset" = tsan ] || [ "$preset" = asan ]; then groups=(build test bundle plot develop); fi

say() { printf 'tessera setup: %s\n' "$*" >&2; }

mkdir -p "$root/build"
# Ranks of one job, or two terminals, may come here at the same moment: the first builds, the others wait.
exec 8>"$root/build/setup.lock"
flock 8

if [ $packages = yes ]; then "$here/packages.sh" "${groups[@]}"; fi
if [ $plot = yes ]; then exec "$here/python.sh" make; fi

flavour=cpu
if [ "$preset" = cuda ]; then flavour=cuda; fi

# shellcheck source=tools/setup/parts.sh
. "$here/parts.sh"
# Who was first here may have built other parts, which stay.
if [ $implicit = yes ]; then parts=$(parts_together "$(parts_built "$root/build/$preset")" "$parts"); fi
cacheFile=$root/build/$preset/CMakeCache.txt
# Sanitizer builds go without Kokkos (CMakePresets.json says why); so does a program of a few parts, which a newcomer
# waits for, unless there are Kokkos tools to load.
if [ "$preset" != asan ] && [ "$preset" != tsan ] && { [ "$parts" = all ] || [ -n "${KOKKOS_TOOLS_LIBS:-}" ]; }; then
  if [ $implicit = no ] || [ "$(parts_built "$root/build/$preset")" != all ]; then
    "$here/kokkos.sh" build "$flavour" >/dev/null ||
      say "going on without Kokkos: everything runs on the CPU, but Kokkos tools see no task names"
  fi
fi
if [ $hypre = yes ]; then "$here/hypre.sh" build >/dev/null; fi
if [ $build = no ]; then exit 0; fi

# jobs: a core each, but compilers that swap are slower than fewer compilers.
jobs=${TESSERA_JOBS:-}
if [ -z "$jobs" ]; then
  memory=$(awk '/MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  jobs=$(nproc)
  if [ "$memory" -lt "$jobs" ]; then jobs=$((memory > 0 ? memory : 1)); fi
fi

folder=$root/build/$preset
options=("-DTESSERA_PARTS=$parts")
if [ -n "${TESSERA_CUDA_ARCHS:-}" ]; then options+=("-DTESSERA_CUDA_ARCHS=$TESSERA_CUDA_ARCHS"); fi
if [ $benchmarks = yes ]; then options+=(-DTESSERA_BUILD_BENCHMARKS=ON); fi
if ! command -v ninja >/dev/null; then options+=(-G "Unix Makefiles"); fi
# The time before the build starts: a file saved while it runs is newer and makes the next call build again.
began=$(mktemp "$root/build/began.XXXXXX")
trap 'rm -f "$began"' EXIT

# Ninja configures again by itself when a CMake file changes, but not for these.
mustConfigure() {
  ! [ -f "$cacheFile" ] || [ "$parts" != "$(parts_built "$folder")" ] || [ "$root/cmake/dependencies.txt" -nt "$cacheFile" ] ||
    [ "$root/CMakePresets.json" -nt "$cacheFile" ] ||
    { [ $benchmarks = yes ] && ! grep -q "^TESSERA_BUILD_BENCHMARKS:BOOL=ON" "$cacheFile"; } ||
    { [ $hypre = yes ] && ! grep -q '^TESSERA_HYPRE_FOUND:INTERNAL=' "$cacheFile"; } ||
    { grep -q '^Kokkos_DIR:PATH=.*NOTFOUND' "$cacheFile" && [ -f "$("$here/kokkos.sh" prefix "$flavour")/complete" ]; }
}
if mustConfigure; then
  rm -f "$folder/tessera.stamp"
  say "configuring build/$preset"
  if ! cmake -S "$root" --preset "$preset" "${options[@]}" >"$root/build/$preset.configure.log" 2>&1; then
    say "cmake failed; the last lines of build/$preset.configure.log:"
    tail -n 30 "$root/build/$preset.configure.log" >&2
    exit 6
  fi
  grep -E '^-- (Kokkos|hypre)' "$root/build/$preset.configure.log" | sed 's/^-- /tessera setup: /' >&2 || true
fi
say "building build/$preset"
if [ ${#targets[@]} -eq 0 ]; then targets=(tessera); fi
if ! cmake --build "$folder" -j "$jobs" --target "${targets[@]}" >"$folder/build.log" 2>&1; then
  say "the build failed; the errors in build/$preset/build.log:"
  { grep -E -A 4 '(error|undefined reference)[: ]' "$folder/build.log" || tail -n 40 "$folder/build.log"; } |
    head -n 60 >&2
  exit 6
fi
touch -r "$began" "$folder/tessera.stamp"
