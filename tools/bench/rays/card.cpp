// tessera_rays_card: what radiation by rays costs on a GPU (or the emulated device): a line for each figure,
// the most important first. Lines for which no time is left say so.
//
//   tessera_rays_card [--device cuda] [--seconds 150]
//   tessera_rays_card --device emulated --cells 16 --rays 4   # whether all of it runs
//   tessera_rays_card --once                                  # one step, for a profiler
//
// Cell-steps (one ray in one cell) are counted on the host, of a sample of the same rays.
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/transport/mpi_session.hpp"
#include "core/transport/mpi_transport.hpp"
#include "tools/bench/rays/card_run.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/tessera/device_choice.hpp"

namespace tessera::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The lines of the table, one after the other, as long as there is time.
class CardTable {
 public:
  CardTable(Transport& transport, const SimulationOptions& options, const RaysCase& rays, double seconds)
      : transport_(transport), options_(options), rays_(rays), seconds_(seconds) {}

  void print() {
    bits();
    speed();
    launches();
    flow();
    shares();
    oneGpuAsSeveral();
  }

  void once() { run({inPatches(largestPatch())}, options_, 1, false); }

 private:
  double left() const {
    return seconds_ - std::chrono::duration<double>(SteadyClock::now() - start_).count();
  }
  /// Whether a line may begin that takes a few seconds.
  bool begins(const std::string& what) {
    if (left() > 4.0) return true;
    std::printf("%-56s left out: no time\n", what.c_str());
    return false;
  }
  void line(const std::string& what, const std::string& measured, const std::string& target = "") {
    std::printf("%-56s %s%s%s\n", what.c_str(), measured.c_str(), target.empty() ? "" : "   wanted ",
                target.c_str());
    std::fflush(stdout);
  }
  static std::string number(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), format, value);
    return text;
  }
  CardRun run(const CardCase& what, const SimulationOptions& options, std::int64_t steps, bool isTraced) {
    return runCard(what, transport_, options, steps, std::max(1.0, std::min(10.0, left() / 3.0)), isTraced);
  }
  RaysCase inPatches(std::int64_t patch) const {
    RaysCase rays = rays_;
    rays.patch = std::min(patch, rays.fine);
    return rays;
  }
  std::int64_t largestPatch() const { return std::min<std::int64_t>(64, rays_.fine); }
  std::string nameOf(const RaysCase& rays) const {
    return std::to_string(rays.fine) + "^3 in " + std::to_string(rays.patch) + "^3";
  }

  SimulationOptions onHost() const {
    SimulationOptions host = options_;
    host.devices = {};
    return host;
  }
  void compare(const std::string& what, const CardCase& small, const SimulationOptions& options) {
    if (!begins(what)) return;
    const CardRun right = run(small, onHost(), 1, false);
    const CardRun here = run(small, options, 1, false);
    line(what, right.bits == here.bits ? "the same bits" : "OTHER BITS");
  }
  RaysCase small(std::int64_t patch) const {
    return {std::min<std::int64_t>(64, rays_.fine), rays_.ratio, std::min(patch, rays_.fine / 2), 4};
  }

  void bits() {
    const std::string grey = "wall_rays = 3\nwall.emissivity = 0.7\nwall.mirror = 0.5\n";
    compare("host and device: black walls, double", {small(16)}, options_);
    compare("host and device: grey walls, float, fluxes", {small(32), grey + "precision = \"float\"\n"},
            options_);
    compare("host and device: scattering, incident radiation",
            {small(16), grey + "scattering = 2\nincident = true\n"}, options_);
  }

  /// Seconds of a step for which cell-steps are known.
  void speedOf(const std::string& kind, std::int64_t patch, const std::string& settings,
               const std::string& target) {
    const RaysCase rays = inPatches(patch);
    const std::string what = "rays: " + nameOf(rays) + ", " + kind;
    if (rays.patch != patch || !begins(what)) return;
    RaysCase sample = rays;
    sample.rays = 4;
    const SampledRays sampled = sampleSteps(sample, Cube(rays.fine), Cube(rays.fine / rays.ratio));
    const double stepsOfARay = sampled.steps / sampled.rays;
    const double seconds = run({rays, settings}, options_, 4, false).least();
    line(what,
         number("%8.1f Mrays/s", rays.millionRays() / seconds) + number("  %5.1f cells a ray", stepsOfARay) +
             number("  %7.3f G cell-steps/s", 1e-3 * rays.millionRays() * stepsOfARay / seconds) +
             number("  %9.3f ms", 1e3 * seconds),
         target);
  }
  void speed() {
    speedOf("double", 32, "", ">= 15");
    speedOf("double", 64, "", ">= 15");
    speedOf("double", 16, "", ">= 15");
    speedOf("double", 128, "", ">= 15");
    speedOf("float", 32, "wall_rays = 0\nprecision = \"float\"\n", "");
    speedOf("scattering", 32, "wall_rays = 0\nscattering = 1\n", "");
  }

  void launch(const std::string& kind, int batch, int streamsOfLane, int streams) {
    const std::string what = "launches: " + nameOf(inPatches(16)) + ", " + kind;
    if (!begins(what)) return;
    SimulationOptions options = options_;
    options.devices.lane.largestBatch = batch;
    options.devices.lane.streams = streamsOfLane;
    CardCase rays{inPatches(16)};
    rays.streams = streams;
    const CardRun measured = run(rays, options, 3, false);
    line(what, number("%9.3f ms a step", 1e3 * measured.least()));
  }
  void launches() {
    launch("one a patch, one stream", 1, 1, 1);
    launch("one a patch, 4 streams", 1, 4, 1);
    launch("one a patch, 16 streams", 1, 16, 1);
    launch("one for all patches", 4096, 4, 1);
    launch("one for all, split over 4 streams", 4096, 4, 4);
  }

  void flow() {
    CardCase beside{inPatches(32)};
    beside.flow = true;
    const std::string what = "a step: " + nameOf(beside.rays) + ", flow (euler) and radiation each 4th";
    if (!begins(what)) return;
    const CardRun measured = run(beside, options_, 8, false);
    double flowSeconds = 0.0;
    double raySeconds = 0.0;
    for (std::size_t n = 0; n < measured.seconds.size(); ++n) {
      double& kind = (n + 1) % 4 == 0 ? raySeconds : flowSeconds;
      if (kind == 0.0 || measured.seconds[n] < kind) kind = measured.seconds[n];
    }
    line(what,
         number("flow %.3f ms", 1e3 * flowSeconds) + number(", with radiation %.3f ms", 1e3 * raySeconds));
  }

  void shares() {
    const RaysCase rays = inPatches(32);
    const std::string what = "time of the device: " + nameOf(rays);
    if (!begins(what)) return;
    const CardRun traced = run({rays}, options_, 4, true);
    line(what,
         number("not kernels %.2f %%", 100.0 * (1.0 - traced.kernelPart)) +
             number(", not rays %.2f %%", 100.0 * (1.0 - traced.rayPart)) +
             number(", %.0f launches of kernels a step", static_cast<double>(traced.launches)),
         "<= 3 %");
  }

  void oneGpuAsSeveral() {
    for (const int count : {2, 4}) {
      SimulationOptions several = options_;
      const std::int32_t first = several.devices.numbers.front();
      several.devices.numbers.assign(static_cast<std::size_t>(count), first);
      if (several.devices.kind == DeviceKind::Emulated) {
        for (int n = 0; n < count; ++n) several.devices.numbers[static_cast<std::size_t>(n)] = n;
      }
      compare("one device taken for " + std::to_string(count), {small(16)}, several);
      const std::string what = "one device taken for " + std::to_string(count) + ": " + nameOf(inPatches(32));
      if (!begins(what)) continue;
      line(what, number("%9.3f ms a step", 1e3 * run({inPatches(32)}, several, 3, false).least()));
    }
  }

  Transport& transport_;
  SimulationOptions options_;
  RaysCase rays_;
  double seconds_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

int measureCard(int argc, char** argv) {
  std::string device = "cuda";
  double seconds = 150.0;
  bool once = false;
  RaysCase rays;
  SimulationOptions options;
  options.threads = 8;
  CLI::App app{"Radiation by rays on devices"};
  app.add_option("--device", device, "as of tessera run")->capture_default_str();
  app.add_option("--seconds", seconds, "after which no further line begins")->capture_default_str();
  app.add_option("--cells", rays.fine, "of the fine level along each axis")->capture_default_str();
  app.add_option("--ratio", rays.ratio, "of the levels")->capture_default_str();
  app.add_option("--rays", rays.rays, "from each cell")->capture_default_str();
  app.add_option("--threads", options.threads, "worker threads")->capture_default_str();
  app.add_flag("--once", once, "two steps and no table, for a profiler");
  CLI11_PARSE(app, argc, argv);
  const MpiSession mpi;
  MpiTransport transport;
  options.devices = devicesOf(parseDeviceChoice(device), transport.rank(), transport.size());
  options.devices.numbers.resize(1);
  CardTable table(transport, options, rays, seconds);
  if (once) {
    table.once();
  } else {
    table.print();
  }
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_rays_card", tessera::bench::measureCard, argc, argv);
}
