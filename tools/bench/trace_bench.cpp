// What recording a trace costs a step: a 3-point stencil on a line of patches whose tasks spin for a given
// time, run with and without a trace in turn, so that both see the same noise of the machine.
//
//   tessera_trace_bench [PATCHES=64] [STEPS=200] [REPS=15] [THREADS=0] [SPIN_NS=-1]
//
// THREADS 0: one and two. SPIN_NS -1: empty tasks, 1, 10 and 100 us. CPU time is the figure to trust on a
// shared machine. "off again" is the same as "off": what differs between the two is noise.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tools/bench/cpu_clock.hpp"

namespace tessera::bench {
namespace {

void spin(std::chrono::nanoseconds time) {
  if (time.count() == 0) return;
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// The stencil's plans, compiled for one rank.
struct StencilPlans {
  LabelTable labels;
  StepPlan initial{"initial"};
  StepPlan step{"step"};
  CompiledGraphs graphs;

  StencilPlans(std::int64_t patches, std::chrono::nanoseconds time) {
    Geometry geometry;
    geometry.cells = {8 * patches, 1, 1};
    geometry.periodic = {true, true, true};
    const auto hierarchy = Hierarchy::uniform(geometry, {Division::By::Patches, {patches, 1, 1}});
    const auto u = labels.variable<double, Cell>("u");
    initial.task("Bench::initial").writes(u).runs<Cpu>([u](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "i", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
    });
    step.task("Bench::step").reads(Old, u, halo(1)).writes(u).runs<Cpu>([u, time](const auto& task) {
      const auto in = task.read(Old, u);
      const auto out = task.write(u);
      forEach(task.exec(), "s", task.interior(), [=](Index x) { out(x) = 0.5 * (in(x - ex) + in(x + ex)); });
      spin(time);
    });
    const RankMap owners = distribute(*hierarchy, 1);
    const std::vector<const StepPlan*> plans{&initial, &step};
    graphs = compileGraphs(plans, {hierarchy, &labels, &owners, 0, 1});
  }
};

/// One way to run the steps, ready to go.
class Lane {
 public:
  Lane(const char* name, const StencilPlans& plans, Transport& transport, Executor& executor, bool traced)
      : name_(name),
        trace_(Trace::Clock::now(), Trace::kUsualBudget, [](const TraceRecords&) {}),
        data_(makeDataWarehouse(plans.graphs)),
        runner_(plans.graphs, *data_, transport, executor,
                {.findNonFinite = false, .trace = traced ? &trace_ : nullptr}) {
    runner_.run(0, {});
  }

  void run(int steps) {
    const CpuClock clock;
    const double cpu = clock.seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < steps; ++n) runner_.run(1, {});
    wall_ = std::min(wall_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu_ = std::min(cpu_, clock.seconds() - cpu);
    trace_.flush();
  }

  const char* name() const { return name_; }
  double wall() const { return wall_; }
  double cpu() const { return cpu_; }

 private:
  const char* name_;
  Trace trace_;
  std::unique_ptr<DataWarehouse> data_;
  StepRunner runner_;
  double wall_ = 1e30;
  double cpu_ = 1e30;
};

void measure(std::int64_t patches, int steps, int reps, int threads, std::chrono::nanoseconds time) {
  const StencilPlans plans(patches, time);
  LoopbackWorld world(1);
  const auto executor = makeThreadsExecutor(threads);
  Lane off("off", plans, world.transport(0), *executor, false);
  Lane again("off again", plans, world.transport(0), *executor, false);
  Lane on("on", plans, world.transport(0), *executor, true);
  for (int rep = 0; rep < reps; ++rep) {
    for (Lane* lane : {&off, &again, &on}) lane->run(steps);
  }
  const double perTask = 1e9 / static_cast<double>(steps * patches);
  for (const Lane* lane : {&off, &again, &on}) {
    std::printf(
        "%d thread(s) %7lld ns tasks  trace %-9s | wall %9.1f ns/task %+6.2f %% | cpu %9.1f ns/task %+6.2f "
        "%%\n",
        threads, static_cast<long long>(time.count()), lane->name(), lane->wall() * perTask,
        100.0 * (lane->wall() / off.wall() - 1.0), lane->cpu() * perTask,
        100.0 * (lane->cpu() / off.cpu() - 1.0));
  }
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const auto argument = [&](int n, int otherwise) { return argc > n ? std::atoi(argv[n]) : otherwise; };
  const int patches = argument(1, 64);
  const int steps = argument(2, 200);
  const int reps = argument(3, 15);
  const int threads = argument(4, 0);
  const int time = argument(5, -1);
  for (const int t : threads > 0 ? std::vector<int>{threads} : std::vector<int>{1, 2}) {
    for (const int ns : time >= 0 ? std::vector<int>{time} : std::vector<int>{0, 1000, 10'000, 100'000}) {
      measure(patches, ns > 10'000 ? std::max(1, steps / 10) : steps, reps, t, std::chrono::nanoseconds(ns));
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::run(argc, argv); }
