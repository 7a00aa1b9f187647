#include "scheduler/executor/bind_thread.hpp"

#include <cstddef>
#include <pthread.h>
#include <sched.h>

namespace tessera::detail {

bool bindThisThread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

}  // namespace tessera::detail
