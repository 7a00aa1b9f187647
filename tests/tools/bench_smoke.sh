#!/bin/bash
# bench_smoke.sh [BUILD]: builds the benchmarks in BUILD (default build/release, configured) and runs each on its smallest
# case. Their figures are for people on a quiet machine; here they have to build, run, verify what they ran, and print all rows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}

fail() {
  printf 'bench: %s\n' "$*" >&2
  exit 1
}

cmake -S . -B "$build" -DTESSERA_BUILD_BENCHMARKS=ON >/dev/null
# The folder is left as it was: who has no benchmark library goes on building in it.
trap 'cmake -S . -B "$build" -DTESSERA_BUILD_BENCHMARKS=OFF >/dev/null' EXIT
cmake --build "$build" --target tessera_compile_bench tessera_replay_bench tessera_taskbench tessera_stencil_bench \
  tessera_halo_memory tessera_trace_bench tessera_device_patterns tessera_solve_bench

# table NAME ARGUMENTS...: runs tessera_NAME and keeps what it prints in $table.
table() {
  printf '\n-- tessera_%s\n' "$*"
  table=$("$build/tools/bench/tessera_$1" "${@:2}") || fail "tessera_$* ended with $?: $table"
  printf '%s\n' "$table"
}

# rows COUNT PATTERN: so many lines of the table look like that.
rows() {
  local found
  found=$(grep -cE "$2" <<<"$table" || true)
  [ "$found" -eq "$1" ] || fail "$found rows look like '$2' instead of $1"
}

table compile_bench --benchmark_filter='oneRank/(4/4/4|8/8/8)$' --benchmark_min_time=0.05
# On 64 fine patches 12 tasks, on the one coarse patch 2, and the patch of the initial plan on each.
grep -q 'oneRank/4/4/4 .* instances=835 ' <<<"$table" || fail "64 fine patches should make 835 task instances"
grep -q 'oneRank/8/8/8 .* instances=6.68k ' <<<"$table" || fail "512 fine patches should make 6,680 task instances"

# Every task verifies its inputs, in Tessera and in the peers of this build; a fault ends the program with an error.
table replay_bench 8 50 0 2 1 0
rows 2 '^Tessera +[12] threads +0 ns tasks'

for kernel in compute memory imbalanced; do
  table taskbench --width 8 --steps 20 --longest 4 --sweeps 1 --scratch 1024 --kernel "$kernel" --check
  for pattern in trivial no_comm stencil_1d stencil_1d_periodic dom tree fft nearest spread random_nearest all_to_all; do
    for threads in 1 2; do rows 1 "^$pattern +Tessera +$threads +[0-9]+ .* [<>=]*[0-9]+ +[<>=]*[0-9]+ +[<>=]*[0-9]+ "; done
  done
done
table taskbench --type stencil_1d,all_to_all --width 8 --steps 20 --iter 3 --sweeps 2 --threads 2 --check --compare
rows 1 '^stencil_1d +Tessera +2 +160 '
rows 1 '^all_to_all +Tessera +2 +160 '
if "$build/tools/bench/tessera_taskbench" --type fft --width 12 2>/dev/null; then fail "fft with 12 columns was accepted"; fi

table stencil_bench --cells 16 --patch 8,0 --threads 1,2 --seconds 0.02
rows 8 '^(heat|advection) +16 +[08] +[12] +[0-9.]+ +[0-9.]+ +[0-9]+ %'
table stencil_bench --cells 16 --patch 8,0 --threads 1 --seconds 0.02 --lines
rows 2 '^(heat|advection)_16_patch_8_threads_1 [0-9.e+]+ %_of_by_hand -$'
rows 2 '^(heat|advection)_16_patch_0_threads_1 [0-9.e+]+ %_of_by_hand >=90$'

table solve_bench 12
rows 6 '^(constant|varying)_patches_(1|8|64)_own +[0-9.]+ +[0-9.]+ +[0-9]+$'

# Ends with an error where shared and private windows give different values.
table halo_memory --small
rows 12 '^(box|L|plus) +64 +([0-9]+|level) +[0-9.]+'

table trace_bench 8 5 1 0 0
rows 6 '^[12] thread\(s\) +0 ns tasks +trace (off|off again|on) '

# Every way is verified; the figures are those of the emulated device.
table device_patterns --device emulated --width 8 --steps 6 --longest 4 --sweeps 1
for pattern in trivial stencil_1d nearest spread fft tree all_to_all; do
  for way in lane graph; do rows 1 "^$pattern +$way +METG\(50 %\) +>? *[0-9.]+ us"; done
done
rows 7 '^15 uneven tasks, '

echo "bench: the benchmarks build, run and verify"
