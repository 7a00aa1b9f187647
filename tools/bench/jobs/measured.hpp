#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "scheduler/jobs/job_runner.hpp"

namespace tessera::jobs {

/// Seconds that `work` takes: the least of some repeats.
double leastSeconds(int repeats, const std::function<void()>& work);

/// Items with uneven work, and one result of each: what all ways of running them are compared by.
struct UnevenItems {
  std::int64_t count = 0;
  std::int64_t meanRounds = 0;
};

/// By a runner of jobs; the same runner may be used again.
double byJob(JobRunner& runner, const UnevenItems& items, JobForm form);
/// By threads of which each gets an equal count of items, one behind the other.
double byStaticSplit(const UnevenItems& items, int threads);
/// By StarPU, a task an item; 0: this build has no StarPU.
double byStarpu(const UnevenItems& items, int threads, const char* scheduler);

}  // namespace tessera::jobs
