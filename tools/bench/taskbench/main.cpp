// The dependence patterns of Task Bench on Tessera's executor: the smallest granularity of tasks at which
// half of the best rate is reached, METG(50 %).
//
//   tessera_taskbench                                   # all patterns, 1 and 2 threads
//   tessera_taskbench --type stencil_1d --compare       # beside the other runtimes that this build found
//   tessera_taskbench --type fft --iter 400 --check     # one length of task, every input verified
//
// One rank: a graph of tasks that changes from row to row is not a step plan, so ranks have no part in this.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/text/error.hpp"
#include "scheduler/cores.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/taskbench/sweep.hpp"

namespace tessera::bench {
namespace {

struct Request {
  std::vector<std::string> types = patternNames();
  std::string kernel = "compute";
  SweepRequest sweep;
  std::vector<int> threads{1, 2};
  std::int64_t iterations = -1;  ///< one length alone
  std::int64_t longest = 4096;
};

void addOptions(CLI::App& app, Request& r) {
  r.sweep.pattern.steps = 250;
  app.add_option("--type", r.types, "patterns")->delimiter(',')->capture_default_str();
  app.add_option("--width", r.sweep.pattern.width, "columns")->capture_default_str();
  app.add_option("--steps", r.sweep.pattern.steps, "rows")->capture_default_str();
  app.add_option("--radix", r.sweep.pattern.radix, "inputs of nearest, spread, random_nearest")
      ->capture_default_str();
  app.add_option("--period", r.sweep.pattern.period, "rows until spread, random_nearest repeat")
      ->capture_default_str();
  app.add_option("--fraction", r.sweep.pattern.fraction,
                 "of the inputs of random_nearest, how many there are")
      ->capture_default_str();
  app.add_option("--kernel", r.kernel, "empty, compute, memory, imbalanced")->capture_default_str();
  app.add_option("--imbalance", r.sweep.kernel.imbalance,
                 "of imbalanced: width of the factor's range around 1")
      ->capture_default_str();
  app.add_option("--scratch", r.sweep.kernel.scratchBytes, "of memory: bytes for each of 2 x width slots")
      ->capture_default_str();
  app.add_option("--iter", r.iterations, "iterations of a task: this length alone, no METG");
  app.add_option("--longest", r.longest, "iterations of the longest tasks of a sweep")->capture_default_str();
  app.add_option("--threads", r.threads, "worker threads")->delimiter(',')->capture_default_str();
  app.add_option("--sweeps", r.sweep.sweeps, "repetitions of everything")->capture_default_str();
  app.add_flag("--check", r.sweep.check, "every task verifies the stamps of its inputs");
  app.add_flag("--compare", r.sweep.peers, "other runtimes of this build take turns with Tessera");
}

/// Throws UsageError with a fix, before anything is measured.
void settle(Request& r) {
  r.sweep.kernel.kind = kernelOf(r.kernel);
  r.sweep.kernel.iterations = std::max<std::int64_t>(r.iterations, 0);
  const bool single = r.iterations >= 0 || r.sweep.kernel.kind == KernelKind::Empty;
  if (!single && r.longest < 2)
    throw UsageError("--longest is where the sweep begins, and it is halved down to 1; write --longest 4096");
  if (r.sweep.sweeps < 1) throw UsageError("--sweeps counts repetitions; write --sweeps 1 or more");
  r.sweep.lengths = single ? std::vector<std::int64_t>{r.sweep.kernel.iterations} : halvedDownFrom(r.longest);
  expectValid(r.sweep.kernel);
  for (const int t : r.threads) {
    if (t < 1 || t > 256) throw UsageError("--threads has to lie in 1 .. 256; write --threads 1,2");
  }
  for (const std::string& type : r.types) {
    r.sweep.pattern.kind = patternOf(type);
    expectValid(r.sweep.pattern);
  }
}

void printMachine(const char* when) {
  double load[1] = {0.0};
  const std::size_t cores = allowedCores().cores.size();
  if (getloadavg(load, 1) == 1) {
    std::printf("%s: %zu cores for this process, load %.1f\n", when, cores, load[0]);
  } else {
    std::printf("%s: %zu cores for this process, load unknown\n", when, cores);
  }
}

std::string nanoseconds(const Metg& m) {
  const char* sign = m.bound == Metg::Bound::AtMost ? "<=" : m.bound == Metg::Bound::MoreThan ? ">" : "";
  char text[32];
  std::snprintf(text, sizeof(text), "%s%.0f", sign, 1e9 * m.granularity);
  return text;
}

void printHead(bool single) {
  std::printf("%-20s %-27s %3s %8s %6s  ", "pattern", "system", "thr", "tasks", "edges");
  if (single) {
    std::printf("%s\n", "wall ns/task   median  cpu ns/task   median   M iter/s");
  } else {
    std::printf("%s\n", "empty: wall     cpu  METG(50 %) ns   least  greatest   M iter/s");
  }
}

void print(const Request& r, const std::string& type, const SweepResult& result, int threads, double peak) {
  const auto tasks = static_cast<double>(result.tasks);
  const double perTask = 1e9 / tasks;
  std::printf("%-20s %-27s %3d %8lld %6.2f  ", type.c_str(), result.system.c_str(), threads,
              static_cast<long long>(result.tasks), static_cast<double>(result.edges) / tasks);
  const double rate = 1e-6 * peakOf({&result, 1});
  if (r.sweep.lengths.size() == 1) {
    std::printf("%12.1f %8.1f %12.1f %8.1f %10.1f\n", result.best[0].wall * perTask,
                result.median[0].wall * perTask, result.best[0].cpu * perTask, result.median[0].cpu * perTask,
                rate);
  } else {
    const MetgSpread metg = metgOf(result, peak);
    std::printf("%11.1f %7.1f %14s %7s %9s %10.1f\n", result.empty.wall * perTask, result.empty.cpu * perTask,
                nanoseconds(metg.median).c_str(), nanoseconds(metg.least).c_str(),
                nanoseconds(metg.greatest).c_str(), rate);
  }
}

/// All patterns, then their lines: the peak is that of all of them.
void measure(Request& r, int threads) {
  r.sweep.threads = threads;
  std::vector<std::string> types;
  std::vector<SweepResult> all;
  for (const std::string& type : r.types) {
    r.sweep.pattern.kind = patternOf(type);
    for (SweepResult& result : runSweeps(r.sweep, makePeers)) {
      types.push_back(type);
      all.push_back(std::move(result));
    }
  }
  const double peak = peakOf(all);
  for (std::size_t n = 0; n < all.size(); ++n) print(r, types[n], all[n], threads, peak);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  CLI::App app{"Patterns of Task Bench on Tessera's executor: METG(50 %)"};
  Request request;
  addOptions(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(std::string(error.what()) + "; tessera_taskbench --help lists what there is");
  }
  settle(request);
  printMachine("before");
  std::printf("kernel %s, %d x %d, median of %d%s\n", request.kernel.c_str(), request.sweep.pattern.width,
              request.sweep.pattern.steps, request.sweep.sweeps,
              request.sweep.check ? ", every input verified" : "");
  printHead(request.sweep.lengths.size() == 1);
  for (const int threads : request.threads) measure(request, threads);
  printMachine("after");
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_taskbench", tessera::bench::run, argc, argv);
}
