#!/bin/bash
# on_card.sh BUILD [-t SECONDS] [-o FILE] [-n] [PART]...: everything of the task engine that needs a GPU: tests, tables of
# docs/engine.md, a process that is killed, one that is stopped, memory checkers. BUILD is a build of preset cuda with the target tessera_engine_card.
# All parts together end within SECONDS [390]; FILE gets the whole output; -n tries the script on threads of the host.
# The last line is "N passed, N failed, N skipped".
set -uo pipefail
all_parts="tests bench kill stop count check host blocking"
without_gpu=threads
total=390
source "$(dirname "${BASH_SOURCE[0]}")/../card_parts.sh"
card_options "$@"
tests=$(program tessera_scheduler_engine_tests)
steps=$(program tessera_scheduler_engine_step_tests)
bench=$(program tessera_engine_bench)
blocking=$(program tessera_engine_blocking)
tbb=$(program tessera_engine_tbb_bench)
filter='*cuda*:*Cuda*:SeveralEngines*'
[ "$device" = cuda ] && export TESSERA_ENGINE_TEST_CUDA=$(nvidia-smi -L | wc -l) || filter='*3threads*:SeveralEngines*'

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

# How busy the GPU is, in percent; nothing where that is not told.
busy() { nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits | head -1 | grep -E '^[0-9]+$'; }

# A process that holds an engine on the GPU is stopped and not dead: the kernel ends by itself, and the process, when it goes
# on, with 6 and the reason.
stopped() {
  local now holder begin status=0
  "$bench" cuda hold >"$work/hold" 2>&1 &
  holder=$!
  for _ in $(seq 100); do
    now=$(busy)
    [ "${now:-0}" -ge 50 ] && break
    sleep 0.1
  done
  echo "GPU busy beside the engine: ${now:-not told} %"
  [ "${now:-0}" -ge 50 ] || { kill -9 "$holder"; return 1; }
  kill -STOP "$holder"
  begin=$SECONDS
  while [ $((SECONDS - begin)) -lt 10 ] && [ "$(busy)" -ne 0 ]; do sleep 0.25; done
  now=$(busy)
  echo "GPU busy $((SECONDS - begin)) s after kill -STOP: $now %"
  kill -CONT "$holder"
  wait "$holder" || status=$?
  echo "after kill -CONT the process exits with $status: $(tr -s '\n ' ' ' <"$work/hold")"
  [ "$now" -eq 0 ] && [ "$status" -eq 6 ] && tr -s '\n ' ' ' <"$work/hold" | grep -q 'gave no sign for 5 s'
}

# Calls that are free of a resident kernel are counted, the others named.
calls() { awk '/ free$/ {free++; next} {print} END {print free + 0, "calls are free"}'; }

for each in $parts; do
  case $each in
    tests) part 120 6 "tests, 1,000 starts and ends among them" "$tests" --gtest_filter="$filter" --gtest_brief=1
           part 40 6 "steps beside an engine" "$steps" --gtest_filter="$filter" --gtest_brief=1 ;;
    bench) for section in trip feed made memory length physics; do
             part 60 14 "$section" "$bench" "$device" "$section"
           done ;;
    count) part 60 3 "10^8 tasks, every result checked" "$bench" "$device" count ;;
    host) for section in trip feed physics; do
            part 25 14 "two threads of the host: $section" "$bench" threads "$section"
          done
          [ -z "$tbb" ] || part 20 10 "oneTBB on two threads" "$tbb" ;;
    kill) [ "$device" != cuda ] ||
            part 30 6 "kill -9 of a process with an engine" bash -c "$(declare -f killed); bench=$bench; killed" ;;
    stop) [ "$device" != cuda ] ||
            part 40 6 "kill -STOP of a process with an engine" \
              bash -c "$(declare -f stopped busy); bench=$bench; work=$work; stopped" ;;
    blocking) [ -z "$blocking" ] || summary=calls part 90 30 "calls of CUDA beside a resident kernel" "$blocking" ;;
    check)
      if ! command -v compute-sanitizer >/dev/null && [ -x /usr/local/cuda/bin/compute-sanitizer ]; then
        PATH=$PATH:/usr/local/cuda/bin
      fi
      if [ "$device" = cuda ] && command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck synccheck; do
          part 60 4 "compute-sanitizer, $tool, run then exit" compute-sanitizer --tool "$tool" --error-exitcode 9 "$tests" \
            --gtest_filter='*RunThenExit*cuda*' --gtest_brief=1
        done
      else
        echo "no compute-sanitizer: the memory checkers are left out"
      fi ;;
  esac
done
card_end
