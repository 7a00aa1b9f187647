// How much of a delay is hidden behind work: two ranks of one worker each inside this process, whose messages
// take a given time on the way, and whose minima (the next dt) come a given time after both have joined.
//
//   tessera_overlap_bench [PATCHES=16] [SPIN_US=250] [STEPS=40] [REPS=7]
//
// Each rank has PATCHES patches on a line, two of which wait for the other rank's cells; a patch takes
// SPIN_US, one half in a task that does not use dt. "joined" waits for the minimum before the next step
// begins.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;

constexpr int kRanks = 2;
constexpr int kDelays[] = {0, 500, 1000, 2000, 4000};  ///< microseconds

struct Delays {
  Microseconds messages{0};
  Microseconds minima{0};
};

/// Sends leave later, minima arrive later.
class DelayedTransport final : public Transport {
 public:
  DelayedTransport(Transport& inner, Delays delays) : inner_(inner), delays_(delays) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::int64_t tagBound() const override { return inner_.tagBound(); }
  Request send(int peer, std::int64_t tag, std::span<const std::byte> bytes) override {
    held_[--lastHeld_] = {Clock::now() + delays_.messages, peer, tag, bytes};
    return lastHeld_;
  }
  Request receive(int peer, std::int64_t tag, std::span<std::byte> bytes) override {
    return inner_.receive(peer, tag, bytes);
  }
  Request allReduceMin(std::span<double> values) override {
    const Request request = inner_.allReduceMin(values);
    minima_[request] = Clock::now() + delays_.minima;
    return request;
  }
  Request allReduceMax(std::span<double> values) override { return inner_.allReduceMax(values); }
  Request allReduceSum(std::span<std::int64_t> values) override { return inner_.allReduceSum(values); }
  bool test(Request request) override { return request < 0 ? testSend(request) : testOther(request); }
  void barrier() override { inner_.barrier(); }
  void broadcast(std::string& bytes, int root) override { inner_.broadcast(bytes, root); }
  std::vector<std::string> gather(std::string_view bytes, int root) override {
    return inner_.gather(bytes, root);
  }
  [[noreturn]] void abort(int exitCode) override { std::exit(exitCode); }

 private:
  struct Held {
    Clock::time_point leaves;
    int peer = 0;
    std::int64_t tag = 0;
    std::span<const std::byte> bytes;
    Request sent = -1;
  };

  bool testSend(Request request) {
    Held& held = held_.at(request);
    if (Clock::now() < held.leaves) return false;
    if (held.sent < 0) held.sent = inner_.send(held.peer, held.tag, held.bytes);
    if (!inner_.test(held.sent)) return false;
    held_.erase(request);
    return true;
  }

  bool testOther(Request request) {
    const auto at = minima_.find(request);
    if (at != minima_.end() && Clock::now() < at->second) return false;
    if (!inner_.test(request)) return false;
    if (at != minima_.end()) minima_.erase(at);
    return true;
  }

  Transport& inner_;
  const Delays delays_;
  std::map<Request, Held> held_;
  Request lastHeld_ = 0;
  std::map<Request, Clock::time_point> minima_;
};

void spin(Microseconds time) {
  const auto until = Clock::now() + time;
  while (Clock::now() < until) {
  }
}

/// The plans, compiled for both ranks.
struct Plans {
  LabelTable labels;
  StepPlan initial{"initial"};
  StepPlan step{"step"};
  ReductionLabel stableDt = labels.reduction("stable_dt");
  std::vector<CompiledGraphs> graphs;

  Plans(std::int64_t patches, Microseconds work) {
    Geometry geometry;
    geometry.cells = {8 * kRanks * patches, 1, 1};
    geometry.periodic = {true, true, true};
    const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {kRanks * patches, 1, 1}});
    const auto u = labels.variable<double, Cell>("u");
    const auto slope = labels.variable<double, Cell>("slope");
    initial.task("Bench::initial")
        .writes(u)
        .contributes(stableDt, Min)
        .runs<Cpu>([u, r = stableDt](const auto& task) {
          const auto out = task.write(u);
          forEach(task.exec(), "i", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
          task.contribute(r, 0.1);
        });
    step.task("Bench::slope")
        .reads(Old, u, halo(1))
        .writes(slope)
        .withoutDt()
        .runs<Cpu>([u, slope, work](const auto& task) {
          const auto in = task.read(Old, u);
          const auto out = task.write(slope);
          forEach(task.exec(), "s", task.interior(),
                  [=](Index x) { out(x) = in(x + ex) + in(x - ex) - 2.0 * in(x); });
          spin(work / 2);
        });
    step.task("Bench::advance")
        .reads(Old, u)
        .reads(New, slope)
        .writes(u)
        .contributes(stableDt, Min)
        .runs<Cpu>([u, slope, work, r = stableDt](const auto& task) {
          const auto in = task.read(Old, u);
          const auto change = task.read(New, slope);
          const auto out = task.write(u);
          const double dt = task.dt();
          forEach(task.exec(), "a", task.interior(), [=](Index x) { out(x) = in(x) + dt * change(x); });
          spin(work / 2);
          task.contribute(r, 0.1);
        });
    const RankMap owners = distribute(*hierarchy, kRanks);
    const std::vector<const StepPlan*> plans{&initial, &step};
    for (Rank rank = 0; rank < kRanks; ++rank) {
      graphs.push_back(compileGraphs(plans, {hierarchy, &labels, &owners, rank, kRanks}));
    }
  }
};

/// Milliseconds a step, of the slower rank.
double timeSteps(const Plans& plans, Delays delays, bool overlap, int steps) {
  LoopbackWorld world(kRanks);
  std::mutex mutex;
  double slowest = 0.0;
  runRanks(world, [&](Transport& loopback) {
    DelayedTransport transport(loopback, delays);
    const CompiledGraphs& graphs = plans.graphs[static_cast<std::size_t>(loopback.rank())];
    const auto data = makeDataWarehouse(graphs);
    const auto executor = makeThreadsExecutor(1);
    StepRunner runner(graphs, *data, transport, *executor, {.stepsOverlap = overlap});
    runner.run(0, {});
    const auto takeSteps = [&](int count, std::size_t first) {
      for (int s = 0; s < count; ++s) {
        StepInputs inputs;
        inputs.dtFrom = s == 0 ? first : 1;
        inputs.lateDt = [&](const StepResult& before) {
          return before.reductions[static_cast<std::size_t>(plans.stableDt.id)];
        };
        runner.runAhead(1, inputs);
      }
      runner.result(1);
    };
    takeSteps(2, 0);
    const auto start = Clock::now();
    takeSteps(steps, 1);
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    const std::lock_guard lock(mutex);
    slowest = std::max(slowest, taken.count() / steps);
  });
  return slowest;
}

int run(std::int64_t patches, Microseconds work, int steps, int repetitions) {
  const Plans plans(patches, work);
  struct Row {
    const char* what;
    bool isMessage;
    bool overlap;
    double best[std::size(kDelays)];
  };
  Row rows[] = {
      {"messages", true, true, {}}, {"minima", false, true, {}}, {"minima, joined", false, false, {}}};
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (Row& row : rows) {
      for (std::size_t n = 0; n < std::size(kDelays); ++n) {
        const Microseconds delay(kDelays[n]);
        const Delays delays = row.isMessage ? Delays{.messages = delay} : Delays{.minima = delay};
        const double taken = timeSteps(plans, delays, row.overlap, steps);
        row.best[n] = repetition == 0 ? taken : std::min(row.best[n], taken);
      }
    }
  }
  std::printf("%lld patches of %lld us a rank, %d steps, best of %d; milliseconds a step\n",
              static_cast<long long>(patches), static_cast<long long>(work.count()), steps, repetitions);
  std::printf("%-16s %9s %9s %12s %8s\n", "delayed", "delay", "step", "serial sum", "hidden");
  for (const Row& row : rows) {
    for (std::size_t n = 0; n < std::size(kDelays); ++n) {
      const double delay = 1e-3 * kDelays[n];
      const double serial = row.best[0] + delay;
      std::printf("%-16s %9.1f %9.3f %12.3f", row.what, delay, row.best[n], serial);
      if (delay > 0.0) {
        std::printf(" %6.0f %%", 100.0 * std::min(1.0, (serial - row.best[n]) / delay));
      }
      std::printf("\n");
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int count, char** arguments) {
  const auto number = [&](int n, long long otherwise) {
    return n < count ? std::strtoll(arguments[n], nullptr, 10) : otherwise;
  };
  return tessera::bench::run(number(1, 16), tessera::bench::Microseconds(number(2, 250)),
                             static_cast<int>(number(3, 40)), static_cast<int>(number(4, 7)));
}
