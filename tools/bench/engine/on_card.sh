#!/bin/bash
# on_card.sh BUILD: everything of the task engine that needs a GPU, in about six minutes: tests, tables of docs/engine.md, a
# process that is killed, memory checkers. BUILD is a build of preset cuda with the targets tessera_engine_card. Each
# part has a limit of its own; the last line is "N passed, N failed".
set -uo pipefail
[ $# -ge 1 ] || { echo "usage: $0 BUILD [PART]..., parts: tests blocking bench host kill check" >&2; exit 2; }
build=$1
shift
parts=${*:-tests bench kill check blocking host}
tests=$(find "$build" -name tessera_scheduler_engine_tests -type f | head -1)
steps=$(find "$build" -name tessera_scheduler_engine_step_tests -type f | head -1)
bench=$(find "$build" -name tessera_engine_bench -type f | head -1)
blocking=$(find "$build" -name tessera_engine_blocking -type f | head -1)
tbb=$(find "$build" -name tessera_engine_tbb_bench -type f | head -1)
export TESSERA_ENGINE_TEST_CUDA=1
passed=0
failed=0

# part SECONDS NAME COMMAND...: one part with its limit.
part() {
  local limit=$1 name=$2 begin=$SECONDS
  shift 2
  printf '\n== %s\n' "$name"
  # All parts together end within 390 s.
  if ((begin + limit > 390)); then limit=$((begin < 389 ? 390 - begin : 1)); fi
  if timeout -k 5 "$limit" "$@"; then
    passed=$((passed + 1))
    printf -- '-- passed: %s, %s s\n' "$name" $((SECONDS - begin))
  else
    failed=$((failed + 1))
    printf -- '-- FAILED (%s): %s, %s s\n' $? "$name" $((SECONDS - begin))
  fi
}

# A process that holds an engine on the GPU is killed; another one then sees its memory free again.
killed() {
  local before now holder
  before=$("$bench" cuda free | tail -1) || return 1
  "$bench" cuda hold &
  holder=$!
  for _ in $(seq 100); do
    now=$("$bench" cuda free | tail -1)
    [ "$now" -lt $((before - 100)) ] && break
    sleep 0.1
  done
  echo "free MiB before: $before, beside the engine: $now"
  [ "$now" -lt $((before - 100)) ] || { kill -9 "$holder"; return 1; }
  kill -9 "$holder"
  local begin=${EPOCHREALTIME/./}
  wait "$holder" 2>/dev/null
  for _ in $(seq 100); do
    now=$("$bench" cuda free | tail -1)
    [ "$now" -ge $((before - 50)) ] && break
    sleep 0.1
  done
  echo "free MiB $(((${EPOCHREALTIME/./} - begin) / 1000)) ms after kill -9, starts of the asking program included: $now"
  [ "$now" -ge $((before - 50)) ]
}

for each in $parts; do
  case $each in
    tests) part 120 "tests on the GPU, 1,000 starts and ends among them" "$tests" --gtest_filter='*cuda*:*Cuda*' --gtest_brief=1
           part 40 "steps on the GPU beside an engine on it" "$steps" --gtest_filter='*cuda*' --gtest_brief=1 ;;
    blocking) part 90 "calls of CUDA beside a resident kernel" "$blocking" ;;
    bench) part 110 "tables, 10^8 tasks among them" "$bench" cuda trip made memory length feed physics count ;;
    host) part 25 "two threads of the host" "$bench" threads trip feed physics
          [ -z "$tbb" ] || part 20 "oneTBB on two threads" "$tbb" ;;
    kill) part 30 "kill -9 of a process with an engine" bash -c "$(declare -f killed); bench=$bench; killed" ;;
    check)
      if ! command -v compute-sanitizer >/dev/null && [ -x /usr/local/cuda/bin/compute-sanitizer ]; then
        PATH=$PATH:/usr/local/cuda/bin
      fi
      if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck synccheck; do
          part 60 "compute-sanitizer, $tool, run then exit" compute-sanitizer --tool "$tool" --error-exitcode 9 "$tests" \
            --gtest_filter='*RunThenExit*cuda*' --gtest_brief=1
        done
      else
        echo "compute-sanitizer is not installed: the memory checkers are left out"
      fi ;;
    *) echo "there is no part $each" >&2; exit 2 ;;
  esac
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
