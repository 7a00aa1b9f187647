// What it costs to replay a graph: a 3-point stencil of empty and of short tasks, beside other runtimes.
//
//   tessera_replay_bench [WIDTH=64] [STEPS=1000] [THREADS=0] [REPS=31] [CHECK=0] [SPIN_NS=-1]
//
// THREADS 0: one and two. SPIN_NS -1: empty, 1, 10 and 100 us (fewer steps for the long ones). The runtimes
// take turns, so that all of them see the same noise of the machine. CPU time is the figure to trust on a
// shared one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/text/error.hpp"
#include "tools/bench/replay/replay_system.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/taskbench/pattern_graph.hpp"
#include "tools/bench/taskbench/task_body.hpp"

namespace tessera::bench {
namespace {

struct ReplayCase {
  int width = 64;
  int steps = 1000;
  int threads = 2;
  int spinNs = 0;      ///< length of a task; 0: empty
  bool check = false;  ///< every task looks whether its inputs are there
};

struct Measured {
  std::string name;
  std::vector<double> wall;
  std::vector<double> cpu;
};

void print(const ReplayCase& shape, std::int64_t tasks, Measured& m) {
  std::sort(m.wall.begin(), m.wall.end());
  std::sort(m.cpu.begin(), m.cpu.end());
  const double perTask = 1e9 / static_cast<double>(tasks);
  std::printf(
      "%-28s %2d threads %7d ns tasks | wall ns/task best %9.1f median %9.1f | cpu best %9.1f median %9.1f",
      m.name.c_str(), shape.threads, shape.spinNs, m.wall.front() * perTask,
      m.wall[m.wall.size() / 2] * perTask, m.cpu.front() * perTask, m.cpu[m.cpu.size() / 2] * perTask);
  if (shape.spinNs > 0) {
    const double ideal = 1e-9 * shape.spinNs * static_cast<double>(tasks) / shape.threads;
    std::printf(" | %5.1f %% of ideal", 100.0 * ideal / m.wall.front());
  }
  std::printf("\n");
}

bool runCase(const ReplayCase& shape, int reps) {
  const Pattern pattern{.kind = PatternKind::Stencil1d, .width = shape.width, .steps = shape.steps};
  expectValid(pattern);
  const ReplayGraph graph = graphOf(pattern);
  const KernelKind kind = shape.spinNs > 0 ? KernelKind::Spin : KernelKind::Empty;
  TaskBody body(graph, {.kind = kind, .iterations = shape.spinNs}, shape.check);
  std::vector<std::unique_ptr<ReplaySystem>> systems = makePeers(graph, body.call(), shape.threads);
  systems.insert(systems.begin(), makeTessera(graph, body.call(), shape.threads));
  std::vector<Measured> results;
  for (const auto& system : systems) results.push_back({system->name(), {}, {}});
  for (int rep = 0; rep < reps; ++rep) {
    for (std::size_t s = 0; s < systems.size(); ++s) {
      body.reset();
      letOthersRest();
      const ReplayTime time = timeReplay(*systems[s]);
      results[s].wall.push_back(time.wall);
      results[s].cpu.push_back(time.cpu);
      const std::string fault = body.fault();
      if (fault.empty()) continue;
      std::printf("%s: %s\n", results[s].name.c_str(), fault.c_str());
      return false;
    }
  }
  for (Measured& result : results) print(shape, graph.tasks(), result);
  std::fflush(stdout);
  return true;
}

int run(int argc, char** argv) {
  const auto argument = [&](int n, int otherwise) { return argc > n ? std::atoi(argv[n]) : otherwise; };
  ReplayCase shape;
  shape.width = argument(1, 64);
  const int steps = argument(2, 1000);
  const int threads = argument(3, 0);
  const int reps = argument(4, 31);
  shape.check = argument(5, 0) != 0;
  const int spin = argument(6, -1);
  const std::vector<int> spins =
      spin >= 0 ? std::vector<int>{spin} : std::vector<int>{0, 1000, 10000, 100000};
  for (const int t : threads > 0 ? std::vector<int>{threads} : std::vector<int>{1, 2}) {
    for (const int s : spins) {
      shape.threads = t;
      shape.spinNs = s;
      shape.steps = spin >= 0 ? steps : std::max(10, s > 1000 ? steps * 1000 / s : steps);
      if (!runCase(shape, s > 0 ? std::max(3, reps / 4) : reps)) return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_replay_bench", tessera::bench::run, argc, argv);
}
