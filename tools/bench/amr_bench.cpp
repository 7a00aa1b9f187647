// Meshes that follow the solution, on one core through the whole runtime.
//
//   tessera_amr_bench swirl [PATCH [STEPS]]    a bump in a swirl that changes with time, which is evaluated
//   anew on all
//                                              faces in each step, and in a wind that stays: 64 x 64 x 8
//                                              cells and two finer levels that take steps of their own and
//                                              are refluxed, a regrid every 2 steps
//   tessera_amr_bench sedov [CELLS [STEPS]]    an eighth of a spherical blast wave: two finer levels that
//   follow the
//                                              shock, against cells of the finest level everywhere
//   tessera_amr_bench regrid [CELLS [PATCH [STEPS]]]   what a regrid every 4 steps costs: a shell that grows
//   through
//                                              CELLS^3 cells and a finer level, in patches of PATCH^3, for
//                                              euler and advection
//
// Times are of the processor, so others on the machine do not count; a cell in a step of its level is one
// update. Steps and regrids are told apart: what lies between the end of a step and the word that the mesh
// has changed is the regrid. The first two steps warm up.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tools/bench/cpu_clock.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera::bench {
namespace {

std::string cube(std::int64_t n) {
  const std::string text = std::to_string(n);
  return "[" + text + ", " + text + ", " + text + "]";
}

/// Seconds of steps and of regrids, and cells that were updated meanwhile.
class Costs : public RunListener {
 public:
  explicit Costs(std::int64_t steps) : steps_(steps) {}

  bool stepped(Simulation& simulation, std::span<const double> /*control*/) override {
    simulation.settle();
    const double now = clock_.seconds();
    if (++taken_ == kWarmUp) {
      updatesBefore_ = simulation.cellSteps();
    } else if (taken_ > kWarmUp) {
      stepSeconds += now - last_;
      updates = simulation.cellSteps() - updatesBefore_;
    }
    last_ = now;
    patches = simulation.hierarchy().patchCount();
    return taken_ >= steps_;
  }
  void regridded(Simulation& /*simulation*/, double /*seconds*/) override {
    const double now = clock_.seconds();
    if (taken_ >= kWarmUp) {
      regridSeconds += now - last_;
      ++changes;
    }
    last_ = now;
  }

  double seconds() const { return stepSeconds + regridSeconds; }

  double stepSeconds = 0.0;
  double regridSeconds = 0.0;
  double updates = 0.0;
  std::int64_t changes = 0;
  std::int64_t patches = 0;  ///< in the end

 private:
  static constexpr std::int64_t kWarmUp = 2;

  const std::int64_t steps_;
  std::int64_t taken_ = 0;
  CpuClock clock_;
  double last_ = 0.0;
  double updatesBefore_ = 0.0;
};

Costs measure(const std::string& text, std::int64_t steps) {
  const Deck deck = Deck::fromText(text, "amr_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  Costs costs(steps);
  LoopbackWorld world(1);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deck, registry, transport, {});
    simulation.run(costs);
  });
  return costs;
}

void print(const std::string& name, const Costs& costs) {
  std::printf(
      "%-36s %8.3f s, %9.3g updates, %7.2f million a second; %3lld regrids %6.2f %% of it; %lld patches\n",
      name.c_str(), costs.seconds(), costs.updates, 1e-6 * costs.updates / costs.seconds(),
      static_cast<long long>(costs.changes), 100.0 * costs.regridSeconds / costs.seconds(),
      static_cast<long long>(costs.patches));
  std::fflush(stdout);
}

/// That of AMReX's AmrCore: psi = sin^2(pi x) sin^2(pi y) cos(pi t/2)/pi.
std::string swirl(std::int64_t patch, bool changes) {
  const std::string wind = changes ? "velocity.x = \"-2*sin(pi*x)^2*sin(pi*y)*cos(pi*y)*cos(pi*t/2)\"\n"
                                     "velocity.y = \"2*sin(pi*x)*cos(pi*x)*sin(pi*y)^2*cos(pi*t/2)\"\n"
                                   : "velocity.x = 0.1\nvelocity.y = -0.2\n";
  return "[simulation]\ncomponents = [\"advection\"]\n[grid]\ncells = [64, 64, 8]\nupper = [1, 1, 0.125]\n"
         "patch_size = [" +
         std::to_string(patch) + ", " + std::to_string(patch) +
         ", 8]\nperiodic = [true, true, true]\n"
         "[amr]\nmax_levels = 3\nsubcycle = true\ninterval = 2\nbuffer = 2\ntile = 8\nregridder = "
         "\"clustered\"\n"
         "patch_size = " +
         cube(patch) +
         "\n[[amr.criterion]]\nkind = \"expression\"\n"
         "expression = \"(x - 0.5)^2 + (y - 0.75 + 0.2*t)^2 < 0.05\"\nlevel = 0\n"
         "[[amr.criterion]]\nkind = \"expression\"\n"
         "expression = \"(x - 0.5)^2 + (y - 0.75 + 0.2*t)^2 < 0.023\"\nlevel = 1\n"
         "[time]\ncfl = 0.7\nend = 2\n[advection]\n" +
         wind + "initial = \"1 + exp(-100*((x - 0.5)^2 + (y - 0.75)^2))\"\n";
}

int runSwirl(int argc, char** argv) {
  const std::int64_t steps = argc > 3 ? std::atoll(argv[3]) : 12;
  for (const std::int64_t patch : {32, 16}) {
    if (argc > 2 && std::atoll(argv[2]) != patch) continue;
    const std::string in = ", patches of " + std::to_string(patch) + "^3";
    print("swirl" + in, measure(swirl(patch, true), steps));
    print("wind" + in, measure(swirl(patch, false), steps));
  }
  return 0;
}

std::string sedov(std::int64_t cells, const std::string& amr) {
  return "[simulation]\ncomponents = [\"euler\"]\n[grid]\ncells = " + cube(cells) +
         "\npatch_size = " + cube(16) + "\n" + amr +
         "[time]\nend = 0.1\ncfl = 0.4\n[constants]\nradius = 0.1\n[euler]\ninitial.points = 2\n"
         "initial.density = \"1\"\n"
         "initial.pressure = \"x^2 + y^2 + z^2 < radius^2 ? 0.4*0.851072/(4/3*pi*radius^3) : 1e-5\"\n"
         "boundary.x_low = { type = \"reflect\" }\nboundary.y_low = { type = \"reflect\" }\n"
         "boundary.z_low = { type = \"reflect\" }\n";
}

int runSedov(int argc, char** argv) {
  const std::int64_t finest = argc > 2 ? std::atoll(argv[2]) : 64;
  const std::int64_t most = argc > 3 ? std::atoll(argv[3]) : 1000000;
  const Costs everywhere = measure(sedov(finest, ""), most);
  print("blast wave, " + std::to_string(finest) + "^3 cells everywhere", everywhere);
  for (const char* subcycle : {"true", "false"}) {
    const Costs followed = measure(
        sedov(finest / 4, std::string("[amr]\nmax_levels = 3\ninterval = 4\nbuffer = 4\ntile = 8\n"
                                      "regridder = \"clustered\"\npatch_size = [16, 16, 16]\nsubcycle = ") +
                              subcycle +
                              "\n[[amr.criterion]]\nkind = \"expression\"\n"
                              "expression = \"abs(sqrt(x^2 + y^2 + z^2) - max(t, 0.002)^0.4) < 0.03\"\n"),
        most);
    print(std::string("two finer levels, subcycle = ") + subcycle, followed);
    const double perUpdate =
        followed.seconds() / followed.updates * everywhere.updates / everywhere.seconds();
    std::printf("  time %.3f of that, updates %.3f of these, time of an update %.2f times that\n",
                followed.seconds() / everywhere.seconds(), followed.updates / everywhere.updates, perUpdate);
  }
  return 0;
}

std::string shell(const std::string& physics, std::int64_t cells, std::int64_t patch) {
  std::string of = "velocity = { x = 1, y = 1, z = 1 }\ninitial = \"1\"\n";
  if (physics == "euler") of = "initial.points = 1\ninitial.density = \"1\"\ninitial.pressure = \"1\"\n";
  return "[simulation]\ncomponents = [\"" + physics + "\"]\n[grid]\ncells = " + cube(cells) +
         "\npatch_size = " + cube(patch) + "\nperiodic = [true, true, true]\n" +
         "[amr]\nmax_levels = 2\ninterval = 4\nbuffer = 1\ntile = " + std::to_string(patch) +
         "\n[[amr.criterion]]\nkind = \"expression\"\n"
         "expression = \"abs(sqrt((x-0.5)^2 + (y-0.5)^2 + (z-0.5)^2) - 0.3 - 10*t) < 0.25\"\n"
         "[time]\ndt = 0.001\nend = 1\n[" +
         physics + "]\n" + of;
}

int runRegrid(int argc, char** argv) {
  const std::int64_t cells = argc > 2 ? std::atoll(argv[2]) : 64;
  const std::int64_t patch = argc > 3 ? std::atoll(argv[3]) : 16;
  const std::int64_t steps = argc > 4 ? std::atoll(argv[4]) : 14;
  for (const char* physics : {"euler", "advection"})
    print(std::string(physics) + ", patches of " + std::to_string(patch) + "^3",
          measure(shell(physics, cells, patch), steps));
  return 0;
}

}  // namespace

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "swirl") return runSwirl(argc, argv);
  if (what == "sedov") return runSedov(argc, argv);
  if (what == "regrid") return runRegrid(argc, argv);
  throw UsageError("give swirl, sedov or regrid, as the head of tools/bench/amr_bench.cpp says");
}

}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_amr_bench", tessera::bench::run, argc, argv);
}
