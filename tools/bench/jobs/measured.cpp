#include "tools/bench/jobs/measured.hpp"

#include <algorithm>
#include <thread>

#include "tools/bench/jobs/spin_body.hpp"

namespace tessera::jobs {

double leastSeconds(int repeats, const std::function<void()>& work) {
  double least = 1e300;
  for (int n = 0; n < repeats; ++n) {
    const double begin = secondsNow();
    work();
    least = std::min(least, secondsNow() - begin);
  }
  return least;
}

double byJob(JobRunner& runner, const UnevenItems& items, JobForm form) {
  Domain<std::uint32_t> results("results", {items.count, 1, 1});
  Job job(std::string("uneven ") + formText(form), {items.count, 1, 1});
  job.writes(results).cutAlong(0, 1).form(form);
  job.runs<SpinBody>(spinKernels(), [&](const TaskData& task) {
    return SpinBody{task.write(results), items.meanRounds};
  });
  const std::size_t number = runner.add(job);
  const double begin = secondsNow();
  runner.run();
  const double seconds = secondsNow() - begin;
  runner.forget(number);
  runner.forget(results);
  return seconds;
}

double byStaticSplit(const UnevenItems& items, int threads) {
  std::vector<std::uint32_t> results(static_cast<std::size_t>(items.count));
  return leastSeconds(1, [&] {
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] {
        const std::int64_t end = items.count * (thread + 1) / threads;
        for (std::int64_t n = items.count * thread / threads; n < end; ++n)
          results[static_cast<std::size_t>(n)] =
              spin(static_cast<std::uint32_t>(n), roundsOf(n, items.meanRounds));
      });
    }
    for (std::thread& worker : workers) worker.join();
  });
}

}  // namespace tessera::jobs
