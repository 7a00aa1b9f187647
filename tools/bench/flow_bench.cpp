// What the kernels of lowmach cost outside of its solves: vortices in a periodic box on one thread, of one
// density and of two fluids that mix.
//
//   tessera_flow_bench [cells [steps [--lines]]]
//
// Prints million cells and stages a second in tasks, and how long tasks, halos and all of a step take.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {
namespace {

struct FlowTimes {
  double perCell = 0.0;   ///< million cells and stages a second, in tasks
  double taskPart = 0.0;  ///< of the time of the run
  double haloPart = 0.0;
};

/// Takes the time from the first step on.
class FlowClock : public RunListener {
 public:
  bool began(Simulation&, bool, std::span<const double>) override {
    begin_ = std::chrono::steady_clock::now();
    return false;
  }
  bool stepped(Simulation&, std::span<const double>) override {
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return false;
  }
  double seconds = 0.0;

 private:
  std::chrono::steady_clock::time_point begin_;
};

std::string flowDeck(std::int64_t cells, std::int64_t steps, const std::string& fluid) {
  const std::string n = std::to_string(cells);
  return "simulation.components = [\"lowmach\"]\n"
         "grid = { cells = [" +
         n + ", " + n + ", " + n +
         "], periodic = [true, true, true], patch_size = [32, 32, 32] }\n"
         "time = { max_steps = " +
         std::to_string(steps) +
         ", cfl = 0.5 }\n"
         "solver = { tolerance = 1e-3 }\n"
         "history.every_steps = 1000\n"
         "[lowmach]\n"
         "viscosity = 1e-3\n"
         "initial.velocity.x = \"sin(2*pi*x)*cos(2*pi*y)*cos(2*pi*z)\"\n"
         "initial.velocity.y = \"-cos(2*pi*x)*sin(2*pi*y)*cos(2*pi*z)\"\n" +
         fluid;
}

FlowTimes timesOf(std::int64_t cells, std::int64_t steps, const std::string& fluid) {
  const Deck deck = Deck::fromText(flowDeck(cells, steps, fluid), "flow_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  FlowTimes times;
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    SimulationOptions options;
    options.threads = 1;
    Simulation simulation(deck, registry, transport, options);
    FlowClock clock;
    simulation.run(clock);
    const StepStatistics all = simulation.statistics();
    constexpr double kStages = 2.0;
    const double n = static_cast<double>(cells);
    times.perCell = n * n * n * kStages * static_cast<double>(steps) * 1e-6 / all.taskSeconds;
    times.taskPart = all.taskSeconds / clock.seconds;
    times.haloPart = all.messageSeconds / clock.seconds;
  });
  return times;
}

int run(int argc, char** argv) {
  const bool lines = argc > 1 && std::strcmp(argv[argc - 1], "--lines") == 0;
  const int numbers = argc - (lines ? 1 : 0);
  const std::int64_t cells = numbers > 1 ? std::atoi(argv[1]) : 64;
  const std::int64_t steps = numbers > 2 ? std::atoi(argv[2]) : 5;
  const FigureLines figures(lines);
  std::fprintf(figures.table(), "lowmach, %lld^3 cells, two stages, one thread\n",
               static_cast<long long>(cells));
  const std::string mixing =
      "mixing.density = [3, 1]\ndiffusivity = 1e-3\n"
      "initial.mixture_fraction = \"0.5 + 0.5*sin(2*pi*x)\"\nconvection = \"limited\"\n";
  for (const auto& [name, fluid] :
       {std::pair<std::string, std::string>{"one_density", ""}, {"two_fluids", mixing}}) {
    const FlowTimes times = timesOf(cells, steps, fluid);
    std::fprintf(
        figures.table(),
        "%-12s %6.2f million cell-stages a second in tasks; tasks %4.1f %%, halos %4.1f %% of the run\n",
        name.c_str(), times.perCell, 100.0 * times.taskPart, 100.0 * times.haloPart);
    figures.add("lowmach_" + name, times.perCell, "Mcell-stages/s", ">=5");
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) { return tessera::bench::run(argc, argv); }
