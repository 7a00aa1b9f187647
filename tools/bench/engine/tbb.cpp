// The engine's threads beside oneTBB's task_group: empty tasks that one thread makes, on two threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <tbb/global_control.h>
#include <tbb/task_group.h>

#include "core/text/error.hpp"
#include "tools/bench/engine/bench_program.hpp"
#include "tools/bench/engine/rates.hpp"

namespace {

constexpr std::uint64_t kTasks = 1'000'000;

double taskGroup() {
  std::atomic<std::uint64_t> sum{0};
  const auto begin = std::chrono::steady_clock::now();
  tbb::task_group group;
  for (std::uint64_t n = 0; n < kTasks; ++n) {
    group.run([&sum, n] { sum.fetch_add(n + 7, std::memory_order_relaxed); });
  }
  group.wait();
  if (sum != kTasks * (kTasks - 1) / 2 + 7 * kTasks)
    throw tessera::InternalError("the sum over all tasks is wrong");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  try {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 2);
    using namespace tessera::engine;
    // The thread that hands in and fetches is one of the two.
    Engine engine(benchProgram(), {.threads = 1, .memoryBytes = 1 << 20});
    double leastTbb = 1e300;
    double leastOurs = 1e300;
    for (int round = 0; round < 7; ++round) {
      const double tbb = taskGroup();
      const double ours = hostFed(engine, "adder", kTasks);
      std::printf("oneTBB task_group %.2f M/s, engine %.2f M/s, ratio %.2f\n", kTasks / tbb * 1e-6,
                  kTasks / ours * 1e-6, tbb / ours);
      leastTbb = std::min(leastTbb, tbb);
      leastOurs = std::min(leastOurs, ours);
    }
    std::printf("best of each: oneTBB %.2f M/s, engine %.2f M/s, ratio %.2f\n", kTasks / leastTbb * 1e-6,
                kTasks / leastOurs * 1e-6, leastTbb / leastOurs);
  } catch (const tessera::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exitCode();
  }
}
