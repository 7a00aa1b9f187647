// tessera_step_bench: whole steps of heat conduction and piecewise linear advection in 3-D, with all that a
// run has beside its kernels, on a GPU (or the emulated device).
//
//   tessera_step_bench [--device cuda] [--case heat,advection] [--cells 256,512] [--patch 32,64,128]
//   mpiexec.mpich -n 2 tessera_step_bench --device cuda [...]
//
// Prints the time of a step, million cells a second and, for heat, the bandwidth if each cell were read and
// written once; and how long the host alone took to hand the steps over: below the step's time the GPU never
// waits for it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/component.hpp"
#include "core/mpi_session.hpp"
#include "core/mpi_transport.hpp"
#include "tools/bench/step_case.hpp"
#include "tools/tessera/core_schema.hpp"
#include "tools/tessera/device_choice.hpp"
#include "tools/tessera/simulation.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Times rounds of steps, from an idle device to an idle device; the best round counts.
class Rounds : public RunListener {
 public:
  Rounds(std::int64_t steps, std::int64_t rounds) : steps_(steps), rounds_(rounds) {}

  bool stepped(Simulation& simulation, std::span<const double> /*control*/) override {
    if (++taken_ % steps_ != 0) return false;
    const double host = secondsSince(begin_);
    simulation.waitForDevices();
    const double whole = secondsSince(begin_);
    if (taken_ > steps_ && whole / static_cast<double>(steps_) < step) {  // the first round warms up
      step = whole / static_cast<double>(steps_);
      hostStep = host / static_cast<double>(steps_);
    }
    begin_ = SteadyClock::now();
    return taken_ >= steps_ * (rounds_ + 1);
  }

  double step = std::numeric_limits<double>::infinity();
  double hostStep = 0.0;

 private:
  const std::int64_t steps_;
  const std::int64_t rounds_;
  std::int64_t taken_ = 0;
  SteadyClock::time_point begin_ = SteadyClock::now();
};

void measure(const StepCase& what, Transport& transport, const SimulationOptions& options,
             std::int64_t steps) {
  const Deck deck = Deck::fromText(what.deck(), "step_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  Simulation simulation(deck, registry, transport, options);
  Rounds rounds(steps, 4);
  simulation.run(rounds);
  if (transport.rank() != 0) return;
  std::printf("%-9s %5lld^3 in %4lld^3  %9.1f us a step  %8.0f M cells/s  %6.0f GB/s  host %8.1f us\n",
              what.physics.c_str(), static_cast<long long>(what.cells), static_cast<long long>(what.patch),
              rounds.step * 1e6, what.million() / rounds.step, what.million() * 16e-3 / rounds.step,
              rounds.hostStep * 1e6);
  std::fflush(stdout);
}

}  // namespace

int run(int argc, char** argv) {
  std::string device = "cuda";
  std::vector<std::string> cases{"heat", "advection"};
  std::vector<std::int64_t> cells{256, 512};
  std::vector<std::int64_t> patches{32, 64, 128};
  std::int64_t steps = 50;
  SimulationOptions options;
  CLI::App app{"Whole steps on devices"};
  app.add_option("--device", device, "as of tessera run")->capture_default_str();
  app.add_option("--case", cases, "heat, advection")->delimiter(',')->capture_default_str();
  app.add_option("--cells", cells, "cells along each axis")->delimiter(',')->capture_default_str();
  app.add_option("--patch", patches, "cells of a patch along each axis")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--steps", steps, "of a round")->capture_default_str();
  app.add_option("--threads", options.threads, "worker threads")->capture_default_str();
  app.add_option("--streams", options.devices.lane.streams, "of a device")->capture_default_str();
  app.add_option("--batch", options.devices.lane.largestBatch, "tasks of a launch")->capture_default_str();
  bool graphs = false;
  app.add_flag("--graphs", graphs, "replay steps as graphs of the device");
  CLI11_PARSE(app, argc, argv);
  const MpiSession mpi;
  MpiTransport transport;
  const LaneOptions lane = options.devices.lane;
  options.devices = devicesOf(parseDeviceChoice(device), transport.rank());
  options.devices.lane = lane;
  options.devices.graphs = graphs;
  for (const std::string& physics : cases) {
    for (const std::int64_t n : cells) {
      for (const std::int64_t p : patches) {
        if (p <= n) measure({physics, n, p}, transport, options, steps);
      }
    }
  }
  return 0;
}

}  // namespace tessera::bench

int main(int argc, char** argv) {
  try {
    return tessera::bench::run(argc, argv);
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "tessera_step_bench: error: %s\n", error.what());
    return error.exitCode();
  }
}
