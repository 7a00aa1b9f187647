#!/bin/bash
# bundle.sh: builds what goes into a bundle, then packs it. Called by ./tessera bundle; see usage below.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'END'
usage: ./tessera bundle DIR [--preset NAME] [--limit MB]

Builds Tessera and packs it into the new folder DIR, to be carried to a host without network or packages: program,
decks, tests, benchmarks, and the shared libraries with the MPI launcher; DIR.tar.xz is the same in one file. There,
DIR/verify proves that it works.

  --preset NAME   what to pack: release (default) or cuda, for NVIDIA GPUs; TESSERA_CUDA_ARCHS names their capabilities
  --limit MB      an error, which says what is largest, where DIR.tar.xz would be larger (default 60)

The host needs the same kind of processor, and a glibc as new as the one here; its libc, and the driver of its GPUs, are
not in the bundle. The folder may be moved and renamed.
END
}

say() { printf 'tessera bundle: %s\n' "$*" >&2; }

preset=release
limit=60
bundle=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --preset) preset=${2:?--preset needs a name}; shift ;;
    --limit) limit=${2:?--limit needs a number of MB}; shift ;;
    -*)
      say "unknown option \"$1\"; see ./tessera bundle --help"
      exit 2
      ;;
    *)
      if [ -n "$bundle" ]; then
        say "two folders, \"$bundle\" and \"$1\": name the one to make"
        exit 2
      fi
      bundle=$1
      ;;
  esac
  shift
done
if [ -z "$bundle" ]; then
  say "no folder: write ./tessera bundle DIR"
  exit 2
fi
# Before the build, which takes minutes.
"$here/pack.sh" --only-check "$root/build/$preset" "$bundle" "$limit"

targets=(tessera tessera_faulty tessera_regression_tests tessera_scheduler_device_tests tessera_stencil_bench
  tessera_taskbench)
if [ "$preset" = cuda ]; then
  targets+=(tessera_device_bench tessera_device_patterns tessera_step_bench tessera_halo_memory)
fi
chosen=()
for target in "${targets[@]}"; do chosen+=(--target "$target"); done

# The folder goes on as it was: who did not ask for the benchmarks is not to build them from now on.
cache=$root/build/$preset/CMakeCache.txt
if ! grep -qs '^TESSERA_BUILD_BENCHMARKS:BOOL=ON' "$cache"; then
  trap 'cmake -S "$root" -B "$root/build/$preset" -DTESSERA_BUILD_BENCHMARKS=OFF >/dev/null' EXIT
fi
"$root/tools/setup/setup.sh" --implicit --bundle --preset "$preset" "${chosen[@]}"
"$here/pack.sh" "$root/build/$preset" "$bundle" "$limit"
