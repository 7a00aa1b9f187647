#!/bin/bash
# bench_smoke.sh [BUILD]: builds the benchmark of the graph compiler in BUILD (default build/release, configured) and runs
# its two smallest cases. Its figures are for people on a quiet machine; here it has to build, run and count right.
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
cmake --build "$build" --target tessera_compile_bench
table=$("$build/tools/bench/tessera_compile_bench" --benchmark_filter='oneRank/(4/4/4|8/8/8)$' --benchmark_min_time=0.05)
printf '%s\n' "$table"

# On 64 fine patches 12 tasks, on the one coarse patch 2, and the patch of the initial plan on each.
grep -q 'oneRank/4/4/4 .* instances=835 ' <<<"$table" || fail "64 fine patches should make 835 task instances"
grep -q 'oneRank/8/8/8 .* instances=6.68k ' <<<"$table" || fail "512 fine patches should make 6,680 task instances"
echo "bench: the compiler's benchmark builds and runs"
