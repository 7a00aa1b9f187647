#include <cstdlib>
#include <vector>

#include "tools/bench/jobs/measured.hpp"
#include "tools/bench/jobs/spin_body.hpp"

#ifdef TESSERA_HAVE_STARPU
#include <starpu.h>
#endif

namespace tessera::jobs {

#ifdef TESSERA_HAVE_STARPU

namespace {

struct Item {
  std::int64_t number = 0;
  std::int64_t rounds = 0;
  std::uint32_t* result = nullptr;
};

void runItem(void**, void* argument) {
  const Item& item = *static_cast<const Item*>(argument);
  *item.result = spin(static_cast<std::uint32_t>(item.number), item.rounds);
}

}  // namespace

double byStarpu(const UnevenItems& items, int threads, const char* scheduler) {
  starpu_conf options;
  starpu_conf_init(&options);
  options.ncpus = threads;
  options.ncuda = 0;
  options.nopencl = 0;
  options.sched_policy_name = scheduler;
  if (starpu_init(&options) != 0) return 0.0;
  starpu_codelet code{};
  code.cpu_funcs[0] = &runItem;
  code.nbuffers = 0;
  std::vector<std::uint32_t> results(static_cast<std::size_t>(items.count));
  std::vector<Item> all;
  for (std::int64_t n = 0; n < items.count; ++n)
    all.push_back({n, roundsOf(n, items.meanRounds), &results[static_cast<std::size_t>(n)]});
  const double seconds = leastSeconds(5, [&] {
    for (Item& item : all) {
      starpu_task* task = starpu_task_create();
      task->cl = &code;
      task->cl_arg = &item;
      task->cl_arg_size = sizeof(item);
      task->cl_arg_free = 0;
      if (starpu_task_submit(task) != 0) std::abort();
    }
    starpu_task_wait_for_all();
  });
  starpu_shutdown();
  return seconds;
}

#else

double byStarpu(const UnevenItems&, int, const char*) { return 0.0; }

#endif

}  // namespace tessera::jobs
