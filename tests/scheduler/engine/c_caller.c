#include "tests/scheduler/engine/c_caller.h"

#include <stddef.h>

#include "scheduler/engine/tessera_engine.h"

int64_t sumOfAddersFromC(int64_t count) {
  tessera_engine* engine = NULL;
  if (tessera_engine_setup("threads", 2, 64, 0, &engine) != TESSERA_ENGINE_OK) return -1;
  const int adder = tessera_engine_kind(engine, "adder");
  int64_t sum = 0;
  int64_t pushed = 0;
  int64_t polled = 0;
  while (polled < count) {
    const int64_t arguments[2] = {pushed, 1};
    const uint64_t tag = (uint64_t)pushed;
    tessera_result result;
    if (pushed < count) pushed += tessera_engine_push(engine, adder, arguments, sizeof(arguments), 1, &tag);
    if (tessera_engine_poll(engine, &result, 1) == 0) continue;
    if (result.status != TESSERA_TASK_DONE || result.result[0] != result.tag + 1) return -2;
    sum += (int64_t)result.result[0];
    ++polled;
  }
  return tessera_engine_drain(engine) != 0 || tessera_engine_cleanup(engine) != 0 ? -3 : sum;
}
