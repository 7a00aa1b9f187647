#include "scheduler/executor/bind_thread.hpp"

#include <cstddef>
#include <pthread.h>
#include <sched.h>

#include "core/text/error.hpp"

namespace tessera::detail {

bool bindThisThread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

void threadNotStarted(std::size_t there, int wanted, const std::exception& why) {
  throw InternalError(
      Message("a thread cannot be started")
          .line("found  ", there, " of ", wanted, " are there; ", why.what())
          .line("fix    use fewer --threads, or raise the limits of processes (ulimit -u) and of "
                "memory (ulimit -v)")
          .text());
}

}  // namespace tessera::detail
