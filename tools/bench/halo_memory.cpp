// What large halos take: bytes stored over distinct bytes, with windows shared between patches and with
// private copies, and the time of a step with each.
//
//   tessera_halo_memory                       # in the host's memory, on one thread
//   tessera_halo_memory --device cuda         # in the memory of a GPU; or emulated
//   tessera_halo_memory --small               # the smallest cases only
//   tessera_halo_memory --bytes               # no steps: of a device's layout on a machine without one
//   tessera_halo_memory --lines [...]         # one figure a line, with its target, for programs
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>

#include <CLI/CLI.hpp>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "grid/rank_map.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "taskgraph/storage/stored_windows.hpp"
#include "tests/wide_halo/wide_halo_case.hpp"

namespace tessera::bench {
namespace {

struct Settings {
  DeviceOptions devices;
  std::vector<std::int64_t> cells{64, 128};
  std::int64_t patch = 16;
  std::vector<std::int64_t> halos{0, 1, 4, 16, kWholeLevel};
  bool small = false;
  bool bytes = false;  ///< no step is run
  bool lines = false;
};

struct Measured {
  std::int64_t stored = 0;   ///< windows and gathers
  std::int64_t windows = 0;  ///< without gathers; of devices the same as stored
  std::int64_t distinct = 0;
  double stepSeconds = 0.0;
  double sum = 0.0;  ///< of all values after the last step
};

/// The least of several times; a device gets a few steps at a time, and has to end them.
double timeSteps(StepRunner& runner, int steps) {
  const int each = runner.devices().empty() ? 1 : 10;
  double least = std::numeric_limits<double>::infinity();
  for (int s = 0; s < steps; ++s) {
    runner.waitForDevices();
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < each; ++n) runner.run(1, {0.0, 0.0, s + 1, {}});
    runner.waitForDevices();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    least = std::min(least, spent.count() / each);
  }
  return least;
}

double sumOfValues(const WideHaloCase& c, const DataWarehouse& data) {
  double sum = 0.0;
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    for (const double v : c.valuesOn(data, local)) sum += v;
  }
  return sum;
}

Measured measure(const WideHaloCase& c, WindowSharing sharing, const DeviceOptions& devices, int steps) {
  const RankMap owners = distribute(*c.hierarchy(), 1);
  CompileInput input{c.hierarchy(), &c.labels(), &owners, 0};
  input.sharing = sharing;
  const CompiledGraphs graphs = compileGraphs(c.plans(), input);
  Measured m;
  m.stored = memoryPlanOf(graphs).total();
  const StoredWindows all = sumOf(storedWindows(graphs));
  m.windows = all.bytes;
  m.distinct = all.distinctBytes;
  const bool onHost = devices.kind == DeviceKind::None;
  const auto data = makeDataWarehouse(graphs, 1, {}, onHost ? MemoryPieces::CacheLines : MemoryPieces::Pages);
  LoopbackWorld world(1, {});
  runRanks(world, [&](Transport& transport) {
    const auto executor = makeInOrderExecutor();
    RunnerOptions options;
    options.findNonFinite = false;
    options.devices = devices;
    StepRunner runner(graphs, *data, transport, *executor, options);
    for (const DeviceMemoryUse& use : runner.deviceMemory()) {
      m.stored = m.windows = use.bytes;
      m.distinct = use.distinctBytes;
    }
    if (steps == 0) return;
    runner.run(0, {0.0, 0.0, 0, {}});
    m.stepSeconds = timeSteps(runner, steps);
    runner.copyToHost(c.results());
  });
  if (steps > 0) m.sum = sumOfValues(c, *data);
  return m;
}

double mega(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

double ratio(std::int64_t bytes, std::int64_t distinct) {
  return static_cast<double>(bytes) / static_cast<double>(distinct);
}

/// The most bytes that are stored for each distinct one: boxes waste nothing; of other shapes a level that is
/// read whole is the box around it, and wide halos are a few boxes that overlap.
const char* targetOf(const WideHalo& what) {
  const bool whole = what.halo == kWholeLevel;
  if (!whole && what.halo < 8) return "-";
  if (what.shape == "box") return "<=1.05";
  return whole ? "<=1.34" : "<=1.20";
}

void printLine(const WideHalo& what, const Measured& shared, const Measured& apart) {
  const std::string name = what.shape + "_" + std::to_string(what.cells) + "_halo_" +
                           (what.halo == kWholeLevel ? "level" : std::to_string(what.halo));
  std::printf("%s %.3f of_distinct_bytes %s\n", name.c_str(), ratio(shared.stored, shared.distinct),
              targetOf(what));
  std::printf("%s_step %.4g %%_of_private_copies -\n", name.c_str(),
              100.0 * shared.stepSeconds / apart.stepSeconds);
}

void printRow(const WideHaloCase& c, const WideHalo& what, const Measured& shared, const Measured& apart) {
  const std::string halo = what.halo == kWholeLevel ? "level" : std::to_string(what.halo);
  const std::int64_t copies = apart.windows + (what.halo == kWholeLevel ? c.bytesOfLevelCopies() : 0);
  std::printf("%-5s %4lld %6s %10.2f %10.2f %8.3f %12.2f %9.2f %10.3f %10.3f\n", what.shape.c_str(),
              static_cast<long long>(what.cells), halo.c_str(), mega(shared.distinct), mega(shared.stored),
              ratio(shared.stored, shared.distinct), mega(copies), ratio(copies, shared.distinct),
              1e3 * shared.stepSeconds, 1e3 * apart.stepSeconds);
}

/// False where the two runs differ.
bool show(const WideHalo& what, const Settings& settings) {
  const WideHaloCase c(what);
  const int steps = settings.bytes ? 0 : settings.small ? 1 : 5;
  const Measured shared = measure(c, WindowSharing::On, settings.devices, steps);
  const Measured apart = measure(c, WindowSharing::Off, settings.devices, steps);
  if (settings.lines) {
    printLine(what, shared, apart);
  } else {
    printRow(c, what, shared, apart);
  }
  if (shared.sum == apart.sum) return true;
  std::printf("the two runs differ: %.17g and %.17g\n", shared.sum, apart.sum);
  return false;
}

bool showAll(const Settings& settings) {
  if (!settings.lines) {
    std::printf(
        "MB of one variable, Old and New, patches of %lld^3; step: %s, least of several, in ms\n"
        "(over a level that is refined in part, the coarse level is counted as well)\n"
        "shape   n^3   halo   distinct     stored    ratio       copies     ratio  step here  of copies\n",
        static_cast<long long>(settings.patch),
        settings.devices.kind == DeviceKind::None ? "one thread" : "one device");
  }
  bool same = true;
  for (const std::int64_t cells : settings.cells) {
    for (const char* shape : {"box", "L", "plus"}) {
      for (const std::int64_t halo : settings.halos) {
        if (settings.small && (cells > 64 || halo == 4)) continue;
        same = show({shape, cells, halo, settings.patch}, settings) && same;
      }
    }
  }
  return same;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  bench::Settings settings;
  std::string device = "none";
  CLI::App app("What large halos take");
  app.add_option("--device", device, "where")->check(CLI::IsMember({"none", "emulated", "cuda"}));
  app.add_option("--cells", settings.cells, "along an axis of a level")->delimiter(',');
  app.add_option("--patch", settings.patch, "cells along an axis of a patch");
  app.add_option("--halos", settings.halos, "in cells; -1: the whole level")->delimiter(',');
  app.add_flag("--small", settings.small, "the smallest cases only");
  app.add_flag("--bytes", settings.bytes, "bytes only, without a step");
  app.add_flag("--lines", settings.lines, "one figure a line, with its target");
  CLI11_PARSE(app, argc, argv);
  if (device == "emulated") settings.devices.kind = DeviceKind::Emulated;
  if (device == "cuda") settings.devices.kind = DeviceKind::Cuda;
  settings.devices.standbyThread = false;
  try {
    return bench::showAll(settings) ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "tessera_halo_memory: error: %s\n", error.what());
    return error.exitCode();
  }
}
