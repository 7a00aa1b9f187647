// tessera_jobs_bench [cuda] [overhead] [forms] [split]: tables of docs/irregular.md.
#include <algorithm>
#include <cstdio>
#include <string>

#include "core/text/error.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/jobs/partition_check.hpp"
#include "tools/bench/jobs/measured.hpp"
#include "tools/bench/jobs/spin_body.hpp"

namespace tessera::jobs {
namespace {

constexpr int kThreads = 2;

std::unique_ptr<JobRunner> makeRunner(bool cuda) {
  std::vector<std::unique_ptr<JobDevice>> devices;
  if (cuda) {
    devices.push_back(makeBackendJobDevice(makeCudaDevice(0), {}));
  } else {
    devices.push_back(makeHostJobDevice(kThreads));
  }
  return std::make_unique<JobRunner>(std::move(devices));
}

/// Rounds of a microsecond on one core.
double roundsOfMicrosecond() {
  constexpr std::int64_t kRounds = 2'000'000;
  std::uint32_t sum = 0;
  const double seconds = leastSeconds(3, [&] { sum += spin(1, kRounds); });
  return sum == 1 ? 1.0 : kRounds / (seconds * 1e6);
}

void showOverhead(JobRunner& runner) {
  Domain<std::uint32_t> result("result", {1, 1, 1});
  const double empty = leastSeconds(20, [&] { byJob(runner, {1, 0}, JobForm::Consumer); });
  std::printf("empty job, its domain made and checked        %9.1f us\n", empty * 1e6);
  const double many = leastSeconds(5, [&] {
    for (int n = 0; n < 200; ++n) byJob(runner, {64, 0}, JobForm::Consumer);
  });
  std::printf("job of 64 units without work                  %9.1f us\n", many / 200 * 1e6);
  constexpr std::int64_t kPieces = 100'000;
  Domain<std::uint32_t> results("results", {kPieces, 1, 1});
  Job job("check", {kPieces, 1, 1});
  job.writes(results).cutAlong(0, 1);
  job.runs<SpinBody>(spinKernels(), [&](const TaskData& task) { return SpinBody{task.write(results), 0}; });
  const double check = leastSeconds(3, [&] { checkPartition(job); });
  std::printf("check of a partition, a smallest task          %8.3f us\n", check / kPieces * 1e6);
  std::printf("bytes of a task's queue of 16,384 places       %8lld\n",
              static_cast<long long>(spinKernels().scratchBytes(JobForm::ConsumerProducer, 1, JobLimits{})));
}

void showForms(JobRunner& runner) {
  std::printf("\n%-22s", "units/s, mean rounds");
  for (int form = 0; form < kForms; ++form) std::printf(" %18s", formText(static_cast<JobForm>(form)));
  std::printf("\n");
  for (const std::int64_t rounds : {4, 64, 1024}) {
    std::printf("%-22lld", static_cast<long long>(rounds));
    const std::int64_t count = std::max<std::int64_t>(2000, 8'000'000 / (rounds + 16));
    for (int form = 0; form < kForms; ++form) {
      double least = 1e300;
      for (int n = 0; n < 3; ++n)
        least = std::min(least, byJob(runner, {count, rounds}, static_cast<JobForm>(form)));
      std::printf(" %18.3g", static_cast<double>(count) / least);
    }
    std::printf("\n");
  }
}

/// Items of 10, 50 and 200 microseconds on average.
void showSplit(JobRunner& runner) {
  const double rounds = roundsOfMicrosecond();
  std::printf("\n%-16s %10s %10s %12s %12s %12s   (ms; uneven items on %d threads)\n", "mean of an item",
              "work alone", "by demand", "static split", "starpu eager", "starpu lws", kThreads);
  for (const double microseconds : {10.0, 50.0, 200.0}) {
    const UnevenItems items{static_cast<std::int64_t>(200'000.0 / microseconds),
                            static_cast<std::int64_t>(microseconds * rounds)};
    double demand = 1e300;
    double split = 1e300;
    double alone = 1e300;
    for (int n = 0; n < 5; ++n) {
      // What nothing can go below: the work of one thread, shared without any cost.
      alone = std::min(alone, byStaticSplit(items, 1) / kThreads);
      demand = std::min(demand, byJob(runner, items, JobForm::Regular));
      split = std::min(split, byStaticSplit(items, kThreads));
    }
    std::printf("%13.0f us %10.1f %10.1f %12.1f %12.1f %12.1f\n", microseconds, alone * 1e3, demand * 1e3,
                split * 1e3, byStarpu(items, kThreads, "eager") * 1e3,
                byStarpu(items, kThreads, "lws") * 1e3);
  }
}

int run(int count, char** words) {
  const auto has = [&](const char* word) {
    return std::any_of(words + 1, words + count, [&](const std::string& each) { return each == word; });
  };
  const bool cuda = has("cuda");
  const bool all = count <= (cuda ? 2 : 1);
  const std::unique_ptr<JobRunner> runner = makeRunner(cuda);
  std::printf("device: %s\n", runner->devices()[0]->name().c_str());
  if (all || has("overhead")) showOverhead(*runner);
  if (all || has("forms")) showForms(*runner);
  if (!cuda && (all || has("split"))) showSplit(*runner);
  return 0;
}

}  // namespace
}  // namespace tessera::jobs

int main(int count, char** words) {
  try {
    return tessera::jobs::run(count, words);
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exitCode();
  }
}
