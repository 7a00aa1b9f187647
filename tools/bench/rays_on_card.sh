#!/bin/bash
# rays_on_card.sh TESSERA [OUT]: what rays cost on a GPU, with the program of a build of preset cuda. The benchmark of Burns and
# Christon on a fine level of 128^3 cells over one of 32^3: first the bits of the host against those of the GPU on a
# small case, then Mrays/s by size of patches and for 1 and 10 of 11 steps, then a profile if ncu is there. OUT: an empty folder.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 TESSERA [OUT]" >&2; exit 2; }
tessera=$1
out=${2:-$(mktemp -d)}
deck=$(cd "$(dirname "$0")/../.." && pwd)/inputs/rmcrt/burns_christon_two_level.toml

# level PATCH: the fine level in patches of so many cells along each axis.
level() { printf 'grid.level=[{ ratio = 4, lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [%s, %s, %s] }]' "$1" "$1" "$1"; }

# trace NAME DEVICE PATCH STEPS OPTION...
trace() {
  local name=$1 device=$2 patch=$3 steps=$4
  shift 4
  "$tessera" run "$deck" -q --device "$device" --out "$out/$name" --set 'grid.cells=[32, 32, 32]' --set "$(level "$patch")" \
    --set "time.max_steps=$steps" --set "output.every_steps=$steps" --set rmcrt.wall_rays=0 "$@"
}

echo "== the bits of the host"
trace host none 32 1 --set rmcrt.rays=4
trace card cuda 32 1 --set rmcrt.rays=4
"$tessera" compare "$out/host" "$out/card"

echo "== Mrays/s (fine cells alone; seconds of 10 steps: those of 11 less those of 1)"
for scattering in 0 1; do
  for precision in double float; do
    for patch in 16 32 64 128; do
      seconds=()
      for steps in 1 11; do
        begin=${EPOCHREALTIME/./}
        trace "p$patch-$precision-$scattering-$steps" cuda "$patch" "$steps" --set rmcrt.rays=100 \
          --set "rmcrt.precision=\"$precision\"" --set "rmcrt.scattering=$scattering"
        seconds+=($((${EPOCHREALTIME/./} - begin)))
      done
      awk -v s=$((seconds[1] - seconds[0])) -v p="$patch" -v f="$precision" -v c="$scattering" \
        'BEGIN { printf "patches of %3d^3, %-6s, scattering %s: %8.1f Mrays/s\n", p, f, c, 10 * 128 ^ 3 * 100 / s }'
    done
  done
done

if command -v ncu > /dev/null; then
  echo "== what limits the kernel"
  ncu --kernel-name-base demangled -k 'regex:FollowFromCell' -c 1 --section SpeedOfLight --section Occupancy \
    --section WarpStateStats "$tessera" run "$deck" -q --device cuda --out "$out/profile" --set 'grid.cells=[32, 32, 32]' \
    --set "$(level 64)" --set rmcrt.rays=100 --set rmcrt.wall_rays=0
else
  echo "ncu is not installed: no profile"
fi
