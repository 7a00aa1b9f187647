// tessera_step_bench: whole steps of heat conduction and piecewise linear advection in 3-D, with all that a
// run has beside its kernels, on a GPU (or the emulated device).
//
//   tessera_step_bench [--device cuda] [--case heat,advection] [--cells 256,512] [--patch 32,64,128]
//   tessera_step_bench --devices 1,2,4 [...]   # on so many of the rank's devices, one after the other
//   tessera_step_bench --devices 1,2,4 --one-gpu [...]   # the first GPU taken for so many: what they cost
//   tessera_step_bench --limit 60%     device memory for so much of what all variables need, or so many bytes
//   tessera_step_bench --memory managed
//   mpiexec.mpich -n 2 tessera_step_bench --device cuda [...]
//
// Prints the time of a step, million cells a second and, for heat, the bandwidth if each cell were read and
// written once; how long the host alone took to hand the steps over: below the step's time the GPU never
// waits for it; and how many times as fast as on the first number of devices it is.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/component.hpp"
#include "core/text/error.hpp"
#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "datawarehouse/status.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/step_case.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/device_table.hpp"
#include "tools/simulation/simulation.hpp"
#include "tools/tessera/device_choice.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Rounds go on for so long: of steps of microseconds a few rounds last a millisecond or two, within which
/// one and the same run scatters by several percent.
constexpr double kLeastSeconds = 0.1;

/// Times rounds of steps, from an idle device to an idle device; the best round counts.
class Rounds : public RunListener {
 public:
  /// At least so many rounds, after one that warms up.
  Rounds(std::int64_t steps, std::int64_t rounds) : steps_(steps), rounds_(rounds) {}

  bool stepped(Simulation& simulation, std::span<const double> /*control*/) override {
    if (!settled_ && !isSettled(simulation)) return false;  // what comes before is no part of the comparison
    if (++taken_ % steps_ != 0) return false;
    const double host = secondsSince(begin_);
    simulation.waitForDevices();
    const double whole = secondsSince(begin_);
    if (taken_ > steps_) take(host, whole);  // the first round warms up
    paging = simulation.devicePaging();
    hostPart = simulation.costReport().hostPart;
    begin_ = SteadyClock::now();
    return taken_ >= steps_ * (rounds_ + 1) && seconds_ >= kLeastSeconds;
  }

  double step = std::numeric_limits<double>::infinity();
  double hostStep = 0.0;
  double hostPart = 0.0;      ///< of the cells, where placement is by cost
  DevicePagingCounts paging;  ///< of all rounds

  std::int64_t taken() const { return taken_; }

 private:
  /// Whether trials of placement by cost are over.
  bool isSettled(const Simulation& simulation) {
    const CostReport cost = simulation.costReport();
    settled_ = !cost.used || cost.settled;
    return settled_;
  }

  void take(double host, double whole) {
    seconds_ += whole;
    const auto steps = static_cast<double>(steps_);
    if (whole / steps >= step) return;
    step = whole / steps;
    hostStep = host / steps;
  }

  std::int64_t steps_;
  std::int64_t rounds_;
  std::int64_t taken_ = 0;
  bool settled_ = false;
  double seconds_ = 0.0;  ///< of all rounds
  SteadyClock::time_point begin_ = SteadyClock::now();
};

/// 2 GPUs are to be 1.9 times as fast as one, and 4 are to be 3.6 times as fast, where there is work enough.
const char* speedUpTarget(const StepCase& what, std::size_t devices) {
  if (what.physics != "heat" || what.cells < 512 || what.patch < 64) return "-";
  return devices == 2 ? ">=1.9" : devices == 4 ? ">=3.6" : "-";
}

/// Of each device: "60%" of what all variables of the case need there, or bytes; 0 for "".
std::int64_t limitOf(const std::string& limit, const Deck& deck, const ComponentRegistry& registry,
                     Transport& transport, const SimulationOptions& options) {
  if (limit.empty()) return 0;
  if (limit.back() != '%') return std::stoll(limit);
  const Simulation simulation(deck, registry, transport, options);
  return simulation.devicePaging().neededBytes / std::ssize(options.devices.numbers) / 100 *
         std::stoll(limit);
}

Rounds measure(const StepCase& what, Transport& transport, SimulationOptions options, std::int64_t steps,
               const std::string& limit) {
  const Deck deck = Deck::fromText(what.deck(), "step_bench");
  const ComponentRegistry registry = builtInComponents();
  checkDeck(deck, registry).throwIfErrors();
  options.devices.limitBytes = limitOf(limit, deck, registry, transport, options);
  Simulation simulation(deck, registry, transport, options);
  Rounds rounds(steps, 4);
  simulation.run(rounds);
  return rounds;
}

void printPaging(const Rounds& rounds, std::FILE* out) {
  const double taken = static_cast<double>(rounds.taken());
  const auto perStep = [&](std::int64_t count) { return static_cast<double>(count) / taken; };
  std::fprintf(out,
               "          a step: %.0f evictions, %.0f of them without a copy, in %.1f rounds; "
               "%.0f MB out, %.0f MB in, of %.0f MB; %.1f GB/s both ways together\n",
               perStep(rounds.paging.evictions), perStep(rounds.paging.dropped),
               perStep(rounds.paging.rounds), perStep(rounds.paging.bytesOut) * 1e-6,
               perStep(rounds.paging.bytesIn) * 1e-6, static_cast<double>(rounds.paging.neededBytes) * 1e-6,
               perStep(rounds.paging.bytesOut + rounds.paging.bytesIn) * 1e-9 / rounds.step);
}

/// One case, on each number of devices.
void compare(const StepCase& what, Transport& transport, const SimulationOptions& options,
             const std::vector<std::size_t>& counts, std::int64_t steps, const std::string& limit,
             const FigureLines& lines) {
  double first = 0.0;
  for (const std::size_t count : counts) {
    SimulationOptions some = options;
    some.devices.numbers.resize(count);
    const Rounds rounds = measure(what, transport, some, steps, limit);
    if (first == 0.0) first = rounds.step;
    if (transport.rank() != 0) continue;
    std::fprintf(lines.table(),
                 "%-9s %5lld^3 in %4lld^3 on %2zu  %9.1f us a step  %8.0f M cells/s  %6.0f GB/s  host %8.1f "
                 "us  %5.2f x\n",
                 what.physics.c_str(), static_cast<long long>(what.cells), static_cast<long long>(what.patch),
                 count, rounds.step * 1e6, what.million() / rounds.step, what.million() * 16e-3 / rounds.step,
                 rounds.hostStep * 1e6, first / rounds.step);
    if (rounds.paging.evictions > 0) printPaging(rounds, lines.table());
    std::fflush(lines.table());
    const std::string name = what.physics + "_" + std::to_string(what.cells) + "_in_" +
                             std::to_string(what.patch) + "_on_" + std::to_string(count);
    lines.add(name, rounds.step * 1e6, "us_a_step");
    if (!limit.empty()) {
      lines.add(name + "_evictions",
                static_cast<double>(rounds.paging.evictions) / static_cast<double>(rounds.taken()), "a_step",
                ">0");
    }
    if (count == counts.front()) continue;
    const bool oneGpu = options.devices.numbers.front() == options.devices.numbers.back();
    lines.add(name + "_speed_up", first / rounds.step, "x",
              oneGpu ? "-" : speedUpTarget(what, count / counts.front()));
  }
}

/// One case with each placement, twice in turns, so that none has the warmer device; the better time counts.
void comparePlacements(const StepCase& what, Transport& transport, const SimulationOptions& options,
                       const std::vector<DevicePlacement>& placements, std::int64_t steps,
                       const FigureLines& lines) {
  std::vector<Rounds> best(placements.size(), Rounds(steps, 4));
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t n = 0; n < placements.size(); ++n) {
      SimulationOptions some = options;
      some.devices.placement = placements[n];
      const Rounds rounds = measure(what, transport, some, steps, "");
      if (rounds.step < best[n].step) best[n] = rounds;
    }
  }
  if (transport.rank() != 0) return;
  for (std::size_t n = 0; n < placements.size(); ++n) {
    const std::string placement(asText(placements[n]));
    std::fprintf(
        lines.table(), "%-9s %5lld^3 in %4lld^3 %-4s %9.1f us a step  host %3.0f %% of the cells  %5.3f x\n",
        what.physics.c_str(), static_cast<long long>(what.cells), static_cast<long long>(what.patch),
        placement.c_str(), best[n].step * 1e6, 100.0 * best[n].hostPart, best[n].step / best[0].step);
    std::fflush(lines.table());
    if (n == 0) continue;
    lines.add(what.physics + "_" + std::to_string(what.cells) + "_in_" + std::to_string(what.patch) + "_" +
                  placement + "_over_" + std::string(asText(placements[0])),
              best[n].step / best[0].step, "x", placements[n] == DevicePlacement::Cost ? "<=1.02" : "-");
  }
}

}  // namespace

int run(int argc, char** argv) {
  std::string device = "cuda";
  std::vector<std::string> cases{"heat", "advection"};
  std::vector<std::int64_t> cells{256, 512};
  std::vector<std::int64_t> patches{32, 64, 128};
  std::vector<std::size_t> counts;
  std::int64_t steps = 50;
  bool lines = false;
  std::string limit;
  std::string memory = "explicit";
  std::vector<std::string> placements;
  SimulationOptions options;
  CLI::App app{"Whole steps on devices"};
  app.add_option("--device", device, "as of tessera run")->capture_default_str();
  app.add_option("--devices", counts, "numbers of devices of each rank to compare; without: all it has")
      ->delimiter(',');
  bool oneGpu = false;
  app.add_flag("--one-gpu", oneGpu, "take the first GPU of a rank for all of its devices");
  app.add_flag("--lines", lines, "print one figure a line, with its target, for programs");
  app.add_option("--case", cases, "heat, advection")->delimiter(',')->capture_default_str();
  app.add_option("--cells", cells, "cells along each axis")->delimiter(',')->capture_default_str();
  app.add_option("--patch", patches, "cells of a patch along each axis")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--steps", steps, "of a round")->capture_default_str();
  app.add_option("--threads", options.threads, "worker threads")->capture_default_str();
  app.add_option("--streams", options.devices.lane.streams, "of a device")->capture_default_str();
  app.add_option("--batch", options.devices.lane.largestBatch, "tasks of a launch")->capture_default_str();
  app.add_flag("--search,!--no-search", options.findNonFinite, "look for NaN in what tasks write");
  bool graphs = false;
  app.add_flag("--graphs", graphs, "replay steps as graphs of the device");
  app.add_option("--limit", limit, "of memory on the device for variables: bytes, or 60% of their need");
  app.add_option("--memory", memory, "explicit, or managed by the driver")
      ->check(CLI::IsMember({"explicit", "managed"}))
      ->capture_default_str();
  app.add_option("--placement", placements,
                 "auto, gpu, cpu, cost: compare these, on all devices, in place of numbers of devices")
      ->check(CLI::IsMember({"auto", "gpu", "cpu", "cost"}))
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  const MpiSession mpi;
  MpiTransport transport;
  const LaneOptions lane = options.devices.lane;
  options.devices = devicesOf(parseDeviceChoice(device), transport.rank(), transport.size());
  options.devices.lane = lane;
  options.devices.graphs = graphs;
  if (memory == "managed") options.devices.memory = DeviceMemoryKind::Managed;
  if (oneGpu) options.devices.numbers.assign(kDeviceSlots, options.devices.numbers.front());
  const std::size_t most = options.devices.numbers.size();
  if (counts.empty()) counts.push_back(oneGpu ? 1 : most);
  for (const std::size_t count : counts) {
    if (count >= 1 && count <= most) continue;
    throw UsageError("--devices " + std::to_string(count) + ": each rank has 1 to " + std::to_string(most) +
                     " devices here (--device)");
  }
  std::vector<DevicePlacement> places;
  for (const std::string& placement : placements) places.push_back(devicePlacementOf(placement));
  for (const std::string& physics : cases) {
    for (const std::int64_t n : cells) {
      for (const std::int64_t p : patches) {
        if (p > n) continue;
        if (places.empty()) {
          compare({physics, n, p}, transport, options, counts, steps, limit, FigureLines(lines));
        } else {
          comparePlacements({physics, n, p}, transport, options, places, steps, FigureLines(lines));
        }
      }
    }
  }
  return 0;
}

}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_step_bench", tessera::bench::run, argc, argv);
}
