/* Tasks of a kind of one's own from C: rows.c LIBRARY, the library of kinds that this folder's CMakeLists.txt makes. Two
 * engines share the rows, as two GPUs would. Row r has eight cells of amount r + 1, and one time step takes each through 4
 * substeps, or 8 where its amount is above 2. Prints the number of substeps of all first cells, and the last amount. */
#include <stdio.h>

#include "scheduler/engine/tessera_engine.h"

enum { kRows = 100, kCells = 8, kBytes = kCells * sizeof(double) };

typedef struct { /* as ReactRow::Arguments of react_row.hpp */
  const double* old;
  double* next;
  double rate_times_dt;
  int64_t cells;
} react_row;

static int fail(void) {
  fprintf(stderr, "%s\n", tessera_engine_error());
  return 1;
}

int main(int count, char** words) {
  tessera_engine* engines[2];
  double* memory[2];
  int64_t substeps = 0;
  double last[kCells];
  const tessera_engine_options options = {count > 1 ? words[1] : "./libreact_kinds.so", 1, 0, 128, 0};
  for (int n = 0; n < 2; ++n) {
    if (tessera_engine_setup_with("threads", &options, &engines[n]) != 0) return fail();
    memory[n] = tessera_engine_allocate(engines[n], 2 * kRows * kBytes);
    if (memory[n] == NULL) return fail();
  }
  const int kind = tessera_engine_kind(engines[0], "react_row");
  if (kind < 0) return fail();
  for (int row = 0; row < kRows; ++row) {
    double amounts[kCells];
    double* old = memory[row % 2] + row * kCells;
    const react_row arguments = {old, old + kRows * kCells, 0.25, kCells};
    const uint64_t tag = (uint64_t)row;
    for (int cell = 0; cell < kCells; ++cell) amounts[cell] = row + 1;
    if (tessera_engine_copy_in(engines[row % 2], old, amounts, kBytes) != 0) return fail();
    if (tessera_engine_push(engines[row % 2], kind, &arguments, sizeof arguments, 1, &tag) != 1) return fail();
  }
  for (int ended = 0, n = 0; ended < kRows; n = 1 - n) {
    tessera_result result;
    if (tessera_engine_poll(engines[n], &result, 1) == 0) continue;
    if (result.status != TESSERA_TASK_DONE) return 1;
    substeps += (int64_t)result.result[0];
    ++ended;
  }
  double* const of_last = memory[(kRows - 1) % 2] + (kRows - 1) * kCells + kRows * kCells;
  if (tessera_engine_copy_out(engines[(kRows - 1) % 2], last, of_last, kBytes) != 0) return fail();
  for (int n = 0; n < 2; ++n) tessera_engine_cleanup(engines[n]);
  printf("%lld %.9f\n", (long long)substeps, last[kCells - 1]);
  return 0;
}
