#include "tools/bench/engine/rates.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "core/text/error.hpp"
#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/relay.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "tools/bench/engine/spin_chain.hpp"

namespace tessera::engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kBundle = 64;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Hands in `count` tasks that `make` fills and fetches as many results. Compiled for each pair of functions:
/// a call by pointer for each task would be a tenth of what the host thread does.
template <class Make, class Take>
double throughEngine(Engine& engine, std::uint64_t count, const Make& make, const Take& take) {
  Task tasks[kBundle];
  std::uint64_t tags[kBundle];
  static Finished finished[1024];
  std::uint64_t pushed = 0;
  std::uint64_t polled = 0;
  std::size_t ready = 0;
  const auto begin = Clock::now();
  while (polled < count) {
    for (; ready < kBundle && pushed + ready < count; ++ready) {
      make(pushed + ready, tasks[ready]);
      tags[ready] = pushed + ready;
    }
    const auto taken = static_cast<std::size_t>(engine.push({tasks, ready}, {tags, ready}));
    pushed += taken;
    std::move(tasks + taken, tasks + ready, tasks);
    std::move(tags + taken, tags + ready, tags);
    ready -= taken;
    const std::int64_t got = engine.poll(finished);
    for (std::int64_t n = 0; n < got; ++n) take(finished[n]);
    polled += static_cast<std::uint64_t>(got);
  }
  return since(begin);
}

}  // namespace

double roundTrip(Engine& engine, const char* kind, int count) {
  const std::uint16_t number = engine.program().numberOf(kind);
  const Task task = taskOf<Adder<TaskWidth::Lane>>(number, {1, 2});
  const std::uint64_t tag = 0;
  Finished end;
  std::vector<double> times;
  for (int n = 0; n < count; ++n) {
    const auto begin = Clock::now();
    engine.push({&task, 1}, {&tag, 1});
    while (engine.poll({&end, 1}) == 0) {
    }
    times.push_back(since(begin));
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[static_cast<std::size_t>(count) / 2];
}

double hostFed(Engine& engine, const char* kind, std::uint64_t count) {
  const std::uint16_t number = engine.program().numberOf(kind);
  std::uint64_t sum = 0;
  const double time = throughEngine(
      engine, count,
      [=](std::uint64_t n, Task& task) {
        task = taskOf<Adder<TaskWidth::Lane>>(number, {static_cast<std::int64_t>(n), 7});
      },
      [&](const Finished& end) { sum += end.result[0]; });
  if (sum != count * (count - 1) / 2 + 7 * count) throw InternalError("the sum over all results is wrong");
  return time;
}

namespace {

/// Seconds for so many chains of tasks, each of which makes the next; `task` is the first of a chain that
/// counts itself at this address when it has ended.
double throughChains(Engine& engine, std::uint64_t chains, const std::function<Task(std::uint64_t*)>& task) {
  auto* ends = static_cast<std::uint64_t*>(engine.allocate(8));
  const std::uint64_t zero = 0;
  engine.copyIn(ends, &zero, 8);
  const Task first = task(ends);
  const auto begin = Clock::now();
  throughEngine(
      engine, chains, [&](std::uint64_t, Task& next) { next = first; }, [](const Finished&) {});
  engine.drain();
  const double time = since(begin);
  std::uint64_t total = 0;
  engine.copyOut(&total, ends, 8);
  engine.release(ends);
  if (total != chains) throw InternalError("not every chain has come to its end");
  return time;
}

}  // namespace

double workerMade(Engine& engine, const char* kind, std::uint64_t chains, std::uint64_t length) {
  using Chain = Relay<TaskWidth::Lane>;
  return throughChains(engine, chains, [&](std::uint64_t* ends) {
    return taskOf<Chain>(engine.program().numberOf(kind),
                         {reinterpret_cast<Chain::Count*>(ends), length - 1});
  });
}

double efficiencyOfChains(Engine& engine, std::uint64_t nanos, std::uint64_t length, int workers) {
  // Two chains for each worker: one waits while the other runs.
  const auto chains = static_cast<std::uint64_t>(2 * workers);
  const double time = throughChains(engine, chains, [&](std::uint64_t* ends) {
    return taskOf<SpinChain>(engine.program().numberOf<SpinChain>(),
                             {reinterpret_cast<SpinChain::Count*>(ends), nanos, length - 1});
  });
  return static_cast<double>(chains * length * nanos) * 1e-9 / time / workers;
}

double efficiency(Engine& engine, std::uint64_t nanos, std::uint64_t count, int workers) {
  const Task task = taskOf<Spin>(engine.program().numberOf<Spin>(), {nanos, 1});
  const double time = throughEngine(
      engine, count, [&](std::uint64_t, Task& next) { next = task; }, [](const Finished&) {});
  return static_cast<double>(count) * static_cast<double>(nanos) * 1e-9 / time / workers;
}

double tasksPerSecond(Engine& engine, const Task& task, std::uint64_t count) {
  std::uint64_t wrong = 0;
  const double time = throughEngine(
      engine, count, [&](std::uint64_t, Task& next) { next = task; },
      [&](const Finished& end) { wrong += end.status == TaskStatus::Done ? 0 : 1; });
  if (wrong > 0) throw InternalError(std::to_string(wrong) + " tasks did not end well");
  return static_cast<double>(count) / time;
}

}  // namespace tessera::engine
