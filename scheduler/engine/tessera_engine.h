/* Many small tasks on the cores of this machine or on a GPU: the engine of scheduler/engine/engine.hpp for C, Fortran
 * (bind(C)) and Python (ctypes). Link with libtessera_engine_c. docs/engine.md has the kinds of tasks and their
 * arguments; all are plain bytes.
 *
 *   tessera_engine* engine;
 *   int64_t in[2] = {2, 3};
 *   uint64_t tag = 1;
 *   tessera_result out;
 *   tessera_engine_setup("threads", 0, 0, 0, &engine);
 *   tessera_engine_push(engine, tessera_engine_kind(engine, "adder"), in, sizeof(in), 1, &tag);
 *   while (tessera_engine_poll(engine, &out, 1) == 0) {}      // out.result[0] is 5
 *   tessera_engine_cleanup(engine);
 *
 * Functions return 0 or a count, and a negative code where something is wrong; tessera_engine_error() then has the
 * sentence. Any thread may call any of them, but for setup and cleanup of one engine. */
#ifndef TESSERA_ENGINE_H
#define TESSERA_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TESSERA_ENGINE_OK = 0,
  TESSERA_ENGINE_USAGE = -2,   /* the caller's mistake */
  TESSERA_ENGINE_FAILED = -6,  /* no memory, no GPU, or a fault of the engine */
  /* status of a result */
  TESSERA_TASK_DONE = 0,
  TESSERA_TASK_FAILED = 1, /* `code` says how */
  TESSERA_TASK_LATE = 2,
  TESSERA_TASK_CANCELLED = 3,
  TESSERA_TASK_SKIPPED = 4,
  TESSERA_TASK_UNKNOWN_KIND = 5
};

typedef struct tessera_engine tessera_engine;

typedef struct {
  uint64_t tag; /* the caller's, of push */
  uint16_t status, kind;
  uint32_t code;
  uint64_t result[6]; /* the kind's result, 48 bytes */
} tessera_result;

typedef struct {
  const char* kinds;   /* file of a library with kinds of one's own (docs/engine.md); NULL: those that ship */
  int place;           /* as of setup */
  int multiprocessors; /* of the GPU, for this engine (0: all) */
  int64_t capacity, memory;
} tessera_engine_options;

/* form: "threads", "stepped" (tasks run inside poll) or "cuda" (GPU `place`). place: threads (0: one a core) or the
 * number of the GPU. capacity: tasks under way at a time, a power of two (0: 65536). memory: bytes for data of tasks
 * (0: 64 MiB). */
int tessera_engine_setup(const char* form, int place, int64_t capacity, int64_t memory, tessera_engine** engine);
/* The same, with all there is to choose; zeros are chosen by the engine. Many engines may live in a process: on
 * several GPUs, or on one that they share by giving each some of its multiprocessors. */
int tessera_engine_setup_with(const char* form, const tessera_engine_options* options, tessera_engine** engine);
/* Waits for the tasks that run; drops those that do not. NULL is allowed. */
int tessera_engine_cleanup(tessera_engine* engine);
/* The number of a kind of tasks, by name. */
int tessera_engine_kind(tessera_engine* engine, const char* name);
/* Hands in `count` tasks, `bytes` of arguments (at most 40) after one another; how many there was room for. */
int64_t tessera_engine_push(tessera_engine* engine, int kind, const void* arguments, int64_t bytes, int64_t count,
                            const uint64_t* tags);
/* Up to `most` results, in the order in which tasks ended; how many there were. Never waits. */
int64_t tessera_engine_poll(tessera_engine* engine, tessera_result* results, int64_t most);
/* Memory where the tasks run, for arguments that are addresses; NULL: none is left. */
void* tessera_engine_allocate(tessera_engine* engine, int64_t bytes);
int tessera_engine_free(tessera_engine* engine, void* block);
int tessera_engine_copy_in(tessera_engine* engine, void* to, const void* from, int64_t bytes);
int tessera_engine_copy_out(tessera_engine* engine, void* to, const void* from, int64_t bytes);
/* Waits until no task is under way, spawned ones included. */
int tessera_engine_drain(tessera_engine* engine);
/* What was wrong in the last call of this thread that failed; "" before. */
const char* tessera_engine_error(void);

#ifdef __cplusplus
}
#endif
#endif
