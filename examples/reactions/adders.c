/* A thousand tasks from C. */
#include <stdio.h>

#include "scheduler/engine/tessera_engine.h"

int main(void) {
  tessera_engine* engine;
  tessera_result result;
  long sum = 0;
  int polled = 0;
  if (tessera_engine_setup("threads", 2, 0, 0, &engine) != 0) {
    fprintf(stderr, "%s\n", tessera_engine_error());
    return 1;
  }
  const int adder = tessera_engine_kind(engine, "adder");
  for (int n = 0; n < 1000; ++n) {
    const int64_t arguments[2] = {n, 1};
    const uint64_t tag = (uint64_t)n;
    while (tessera_engine_push(engine, adder, arguments, sizeof arguments, 1, &tag) == 0) {
    }
  }
  while (polled < 1000) {
    if (tessera_engine_poll(engine, &result, 1) == 0) continue;
    sum += (long)result.result[0];
    ++polled;
  }
  tessera_engine_cleanup(engine);
  printf("%ld\n", sum);
  return 0;
}
