#include "scheduler/detail/bind_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include "core/error.hpp"

namespace tessera::detail {

void bindThisThread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0) {
    throw InternalError("a thread cannot be bound to core " + std::to_string(core) +
                        "; run with --no-bind, or inside the cores that the launcher gave");
  }
}

}  // namespace tessera::detail
