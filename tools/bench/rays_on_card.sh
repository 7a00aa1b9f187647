#!/bin/bash
# rays_on_card.sh [--seconds S] [--device cuda] [--cells N] BUILD: what rays cost on a GPU, with the programs of a build of
# preset cuda. The benchmark of Burns and Christon on a fine level of N^3 cells (128) over one of a quarter as many along
# each axis; one table, the most important lines first: bits, speed, kinds of launches, a flow beside, what is not
# kernels, one GPU taken for several, a profile if ncu is there. Ends within S seconds (200).
set -euo pipefail
seconds=200
device=cuda
cells=128
while [ $# -gt 1 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --device) device=$2 ;;
    --cells) cells=$2 ;;
    *) break ;;
  esac
  shift 2
done
[ $# -eq 1 ] || { echo "usage: $0 [--seconds S] [--device DEVICE] [--cells N] BUILD" >&2; exit 2; }
card=$1/tools/bench/tessera_rays_card
[ -x "$card" ] || { echo "$0: there is no program $card; build the target tessera_rays_card" >&2; exit 2; }
begin=$SECONDS
left() { echo $((seconds - (SECONDS - begin))); }

# A quarter of the time is kept for the profile.
timeout -k 5 "$((seconds - 5))" "$card" --device "$device" --cells "$cells" --seconds "$((seconds * 7 / 10))" ||
  echo "the table ended with exit code $?"

if ! command -v ncu > /dev/null; then
  echo "profile: ncu is not installed"
elif [ "$(left)" -lt 20 ]; then
  echo "profile: left out, no time"
else
  # Few rays, since each counter takes a launch of its own.
  timeout -k 5 "$(($(left) - 5))" ncu --kernel-name-base demangled -k 'regex:FollowFromCell' -c 1 --section SpeedOfLight \
    --section Occupancy --section WarpStateStats --section LaunchStats --section MemoryWorkloadAnalysis \
    "$card" --device "$device" --cells "$cells" --rays 8 --once 2>&1 |
    grep -E 'FollowFromCell|Throughput|Registers|Occupancy|Duration|Hit Rate|No Eligible|Warp Cycles|Local|Grid Size|ncu|==ERROR' |
    cut -c1-110 || echo "profile: ncu gave none"
fi
echo "all of it took $((SECONDS - begin)) s"
