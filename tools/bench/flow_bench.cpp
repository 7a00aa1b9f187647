// What the kernels of lowmach cost outside of its solves: vortices in a periodic box on one thread, of one
// density and of two fluids that mix; and what steps with and without radiation cost.
//
//   tessera_flow_bench [cells [steps]] [--lines]
//   tessera_flow_bench [cells [steps]] --device cuda [--threads 2]   # a device against so many threads
//
// Prints million cells and stages a second in tasks, which parts of the time tasks, solves, halos and the
// rest have, and milliseconds of each kind of step. With a device: milliseconds of a step by the clock on the
// wall, there and with threads of the host.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"
#include "tools/tessera/device_choice.hpp"

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
    simulation.waitForDevices();
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

/// Cells along each axis, of the mesh and of its patches.
struct Cube {
  std::int64_t cells = 64;
  std::int64_t patch = 32;
};

std::string cube(std::int64_t n) {
  const std::string one = std::to_string(n);
  return "[" + one + ", " + one + ", " + one + "]";
}

/// Vortices, and what more the deck has.
std::string flowDeck(const Cube& mesh, std::int64_t steps, const std::string& more) {
  return "grid.cells = " + cube(mesh.cells) + "\ngrid.patch_size = " + cube(mesh.patch) +
         "\n"
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

/// One thread, in order: CPU time of it is that of the step.
SimulationOptions oneThread() {
  SimulationOptions options;
  options.executor = ExecutorKind::InOrder;
  return options;
}

std::vector<FlowTime> stepsOf(const std::string& text, const SimulationOptions& options = oneThread()) {
  const Deck deck = Deck::fromText(text, "flow_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  FlowClock clock;
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) { Simulation(deck, registry, transport, options).run(clock); });
  return clock.steps;
}

bool isAny(std::size_t) { return true; }

void showKernels(const Cube& mesh, std::int64_t steps, const FigureLines& figures) {
  std::fprintf(figures.table(), "lowmach, %lld^3 cells, two stages, one thread\n",
               static_cast<long long>(mesh.cells));
  for (const auto& [name, fluid] :
       {std::pair<std::string, std::string>{"one_density", kOneDensity}, {"two_fluids", kTwoFluids}}) {
    const FlowTime step = meanOf(stepsOf(flowDeck(mesh, steps, kFlowAlone) + fluid), isAny);
    constexpr double kStages = 2.0;
    const double perTime = static_cast<double>(mesh.cells * mesh.cells * mesh.cells) * kStages * 1e-6 /
                           (step.cpu * step.tasks / step.all);
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
constexpr std::int64_t kEvery = 4;
std::string radiatingDeck(const Cube& mesh) {
  return flowDeck(mesh, 3 * kEvery + 1,
                  "simulation.components = [\"lowmach\", \"rmcrt\"]\n"
                  "[rmcrt]\ntemperature_from = \"temperature\"\nabsorption = 1\nrays = 10\n"
                  "wall_rays = 5\nwall = { temperature = 600, emissivity = 0.8 }\nevery = " +
                      std::to_string(kEvery) + "\n") +
         kTwoFluids + "initial.temperature = \"1000 + 500*cos(2*pi*x)\"\nsources = [\"-rmcrt.divQ\"]\n";
}
bool hasNoRadiation(std::size_t step) { return step % kEvery != 0; }
bool hasRadiation(std::size_t step) { return !hasNoRadiation(step); }

void showStepKinds(const Cube& mesh, const FigureLines& figures) {
  constexpr double kUsual = 20.0;
  const std::vector<FlowTime> steps = stepsOf(radiatingDeck(mesh));
  const double flow = meanOf(steps, hasNoRadiation).cpu;
  const double both = meanOf(steps, hasRadiation).cpu;
  std::fprintf(
      figures.table(),
      "kinds of steps, %lld^3 cells, 10 rays: flow %.0f ms, flow and radiation %.0f ms, the mean with "
      "radiation each 20 steps %.0f ms\n",
      static_cast<long long>(mesh.cells), 1e3 * flow, 1e3 * both, 1e3 * (flow + (both - flow) / kUsual));
  figures.add("lowmach_flow_step", 1e3 * flow, "ms");
  figures.add("lowmach_radiation_step", 1e3 * both, "ms");
}

/// Where steps are compared.
struct Places {
  SimulationOptions host;
  SimulationOptions device;
  std::string name;  ///< of the device
};

void showBoth(const char* what, double host, double device, const FigureLines& figures) {
  std::fprintf(figures.table(), "  %-24s %10.2f ms %10.2f ms %8.2f x\n", what, 1e3 * host, 1e3 * device,
               host / device);
  const std::string name = std::string("lowmach_") + what;
  figures.add(name + "_host", 1e3 * host, "ms");
  figures.add(name + "_device", 1e3 * device, "ms");
  figures.add(name + "_speed_up", host / device, "x");
}

/// Milliseconds of a step by the clock on the wall, on a device and without it.
void compareDevice(const Cube& mesh, std::int64_t steps, const Places& places, const FigureLines& figures) {
  std::fprintf(figures.table(), "lowmach, %lld^3 cells, two stages; a step: %d threads, %s, times as fast\n",
               static_cast<long long>(mesh.cells), places.host.threads, places.name.c_str());
  for (const auto& [name, fluid] : {std::pair{"one_density", kOneDensity}, {"two_fluids", kTwoFluids}}) {
    const std::string deck = flowDeck(mesh, steps, kFlowAlone) + fluid;
    const double device = meanOf(stepsOf(deck, places.device), isAny).all;
    const double host = meanOf(stepsOf(deck, places.host), isAny).all;
    showBoth(name, host, device, figures);
  }
  const Cube smaller{std::min<std::int64_t>(mesh.cells, 64), mesh.patch};
  std::fprintf(figures.table(), "a gas that radiates, %lld^3 cells, 10 rays\n",
               static_cast<long long>(smaller.cells));
  const std::string deck = radiatingDeck(smaller);
  const std::vector<FlowTime> device = stepsOf(deck, places.device);
  const std::vector<FlowTime> host = stepsOf(deck, places.host);
  showBoth("flow_step", meanOf(host, hasNoRadiation).all, meanOf(device, hasNoRadiation).all, figures);
  showBoth("radiation_step", meanOf(host, hasRadiation).all, meanOf(device, hasRadiation).all, figures);
}

}  // namespace

int run(int argc, char** argv) {
  Cube mesh;
  std::int64_t steps = 5;
  std::string device = "none";
  int threads = 2;
  bool lines = false;
  CLI::App app{"What the kernels of lowmach cost"};
  app.add_option("cells", mesh.cells, "along each axis")->check(CLI::Range(8, 4096))->capture_default_str();
  app.add_option("steps", steps, "at least 2; the first does not count")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app.add_option("--patch", mesh.patch, "cells of a patch along each axis")->capture_default_str();
  app.add_option("--device", device, "as of tessera run: compares it with threads of the host");
  app.add_option("--threads", threads, "of the host, with --device")->capture_default_str();
  app.add_flag("--lines", lines, "print one figure a line, with its target, for programs");
  CLI11_PARSE(app, argc, argv);
  const FigureLines figures(lines);
  const DeviceChoice choice = parseDeviceChoice(device);
  if (choice.kind == DeviceKind::None) {
    showKernels(mesh, steps, figures);
    showStepKinds({std::min<std::int64_t>(mesh.cells, 32), mesh.patch}, figures);
    return 0;
  }
  Places places;
  places.name = device;
  places.host.threads = places.device.threads = threads;
  places.device.devices = devicesOf(choice, 0, 1);
  compareDevice(mesh, steps, places, figures);
  return 0;
}

}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_flow_bench", tessera::bench::run, argc, argv);
}
