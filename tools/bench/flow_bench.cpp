// What the kernels of lowmach cost outside of its solves: vortices in a periodic box on one thread, of one
// density and of two fluids that mix; and what steps with and without radiation cost.
//
//   tessera_flow_bench [cells [steps [--lines]]]
//
// Prints million cells and stages a second in tasks, which parts of the time tasks, solves, halos and the
// rest have, and milliseconds of each kind of step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {
namespace {

/// Seconds of some steps, and where they went.
struct FlowTime {
  double cpu = 0.0;  ///< of this thread; all others by the clock on the wall
  double all = 0.0;
  double tasks = 0.0;
  double halos = 0.0;
  double solves = 0.0;

  double rest() const { return all - tasks - halos - solves; }
};

FlowTime sum(const FlowTime& a, const FlowTime& b, double times) {
  return {a.cpu + times * b.cpu, a.all + times * b.all, a.tasks + times * b.tasks, a.halos + times * b.halos,
          a.solves + times * b.solves};
}

/// Takes the time of each step. Of a busy machine all parts of a step stretch alike, so CPU time and the
/// parts together say what each costs.
class FlowClock : public RunListener {
 public:
  bool began(Simulation& simulation, bool, std::span<const double>) override {
    last_ = now(simulation);
    return false;
  }
  bool stepped(Simulation& simulation, std::span<const double>) override {
    const FlowTime here = now(simulation);
    steps.push_back(sum(here, last_, -1.0));
    last_ = here;
    return false;
  }
  std::vector<FlowTime> steps;

 private:
  static FlowTime now(const Simulation& simulation) {
    const StepStatistics all = simulation.statistics();
    const auto clock = std::chrono::steady_clock::now().time_since_epoch();
    timespec cpu{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return {static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec),
            std::chrono::duration<double>(clock).count(), all.taskSeconds, all.messageSeconds,
            simulation.solves().sum().seconds};
  }

  FlowTime last_;
};

/// The mean of the steps whose number `counts` takes, but for the first step.
template <class Counts>
FlowTime meanOf(const std::vector<FlowTime>& steps, Counts&& counts) {
  FlowTime total;
  double number = 0.0;
  for (std::size_t n = 1; n < steps.size(); ++n) {
    if (!counts(n)) continue;
    total = sum(total, steps[n], 1.0);
    number += 1.0;
  }
  return sum({}, total, 1.0 / number);
}

/// Vortices, and what more the deck has.
std::string flowDeck(const std::string& cells, std::int64_t steps, const std::string& more) {
  return "grid.cells = [" + cells + ", " + cells + ", " + cells +
         "]\ngrid.patch_size = [32, 32, 32]\n"
         "time = { max_steps = " +
         std::to_string(steps) +
         ", cfl = 0.5 }\n"
         "solver = { tolerance = 1e-3 }\n"
         "history.every_steps = 1000\n" +
         more +
         "[lowmach]\n"
         "viscosity = 1e-3\n"
         "initial.velocity.x = \"sin(2*pi*x)*cos(2*pi*y)*cos(2*pi*z)\"\n"
         "initial.velocity.y = \"-cos(2*pi*x)*sin(2*pi*y)*cos(2*pi*z)\"\n";
}

constexpr const char* kFlowAlone =
    "simulation.components = [\"lowmach\"]\ngrid.periodic = [true, true, true]\n";
constexpr const char* kOneDensity = "";
constexpr const char* kTwoFluids =
    "mixing.density = [3, 1]\ndiffusivity = 1e-3\n"
    "initial.mixture_fraction = \"0.5 + 0.5*sin(2*pi*x)\"\nconvection = \"limited\"\n";

std::vector<FlowTime> stepsOf(const std::string& text) {
  const Deck deck = Deck::fromText(text, "flow_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  FlowClock clock;
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    SimulationOptions options;
    options.threads = 1;
    options.executor = ExecutorKind::InOrder;
    Simulation(deck, registry, transport, options).run(clock);
  });
  return clock.steps;
}

void showKernels(std::int64_t cells, std::int64_t steps, const FigureLines& figures) {
  std::fprintf(figures.table(), "lowmach, %lld^3 cells, two stages, one thread\n",
               static_cast<long long>(cells));
  for (const auto& [name, fluid] :
       {std::pair<std::string, std::string>{"one_density", kOneDensity}, {"two_fluids", kTwoFluids}}) {
    const FlowTime step = meanOf(stepsOf(flowDeck(std::to_string(cells), steps, kFlowAlone) + fluid),
                                 [](std::size_t) { return true; });
    constexpr double kStages = 2.0;
    const double perTime =
        static_cast<double>(cells * cells * cells) * kStages * 1e-6 / (step.cpu * step.tasks / step.all);
    const double percent = 100.0 / step.all;
    std::fprintf(figures.table(),
                 "%-12s %6.2f million cell-stages a second in tasks; a step %.0f ms: tasks %4.1f %%, solves "
                 "%4.1f %%, halos %4.1f %%, the rest %4.1f %%\n",
                 name.c_str(), perTime, 1e3 * step.cpu, percent * step.tasks, percent * step.solves,
                 percent * step.halos, percent * step.rest());
    figures.add("lowmach_" + name, perTime, "Mcell-stages/s", ">=5");
    figures.add("lowmach_" + name + "_runtime", percent * step.rest(), "%", "<=3");
  }
}

/// A gas that radiates before each fourth step, in a black box.
void showStepKinds(std::int64_t cells, const FigureLines& figures) {
  constexpr std::int64_t kEvery = 4;
  constexpr double kUsual = 20.0;
  const std::vector<FlowTime> steps =
      stepsOf(flowDeck(std::to_string(cells), 3 * kEvery + 1,
                       "simulation.components = [\"lowmach\", \"rmcrt\"]\n"
                       "[rmcrt]\ntemperature_from = \"temperature\"\nabsorption = 1\nrays = 10\n"
                       "wall_rays = 5\nwall = { temperature = 600, emissivity = 0.8 }\nevery = " +
                           std::to_string(kEvery) + "\n") +
              kTwoFluids + "initial.temperature = \"1000 + 500*cos(2*pi*x)\"\nsources = [\"-rmcrt.divQ\"]\n");
  const double flow = meanOf(steps, [](std::size_t n) { return n % kEvery != 0; }).cpu;
  const double both = meanOf(steps, [](std::size_t n) { return n % kEvery == 0; }).cpu;
  std::fprintf(
      figures.table(),
      "kinds of steps, %lld^3 cells, 10 rays: flow %.0f ms, flow and radiation %.0f ms, the mean with "
      "radiation each 20 steps %.0f ms\n",
      static_cast<long long>(cells), 1e3 * flow, 1e3 * both, 1e3 * (flow + (both - flow) / kUsual));
  figures.add("lowmach_flow_step", 1e3 * flow, "ms");
  figures.add("lowmach_radiation_step", 1e3 * both, "ms");
}

int run(int argc, char** argv) {
  const bool lines = argc > 1 && std::strcmp(argv[argc - 1], "--lines") == 0;
  const int numbers = argc - (lines ? 1 : 0);
  const std::int64_t cells = numbers > 1 ? std::atoi(argv[1]) : 64;
  const std::int64_t steps = numbers > 2 ? std::atoi(argv[2]) : 5;
  const FigureLines figures(lines);
  showKernels(cells, steps, figures);
  showStepKinds(std::min<std::int64_t>(cells, 32), figures);
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::run(argc, argv); }
