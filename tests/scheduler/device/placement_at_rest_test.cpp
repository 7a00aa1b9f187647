// Once placement by cost has left all to the devices, a step is the step of a run that never tried.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/wide_halo/wide_halo_case.hpp"

namespace tessera {
namespace {

/// What the device did in run number 5 of a plan whose patches were elsewhere in runs 1 and 2, by name.
std::vector<std::string> launchesOfTheFifthRun(DevicePlacement placement, const std::vector<double>& parts) {
  const bench::WideHaloCase c({"box", 16, 1, 8});
  const RankMap owners = distribute(*c.hierarchy(), 1);
  const CompiledGraphs graphs = compileGraphs(c.plans(), {c.hierarchy(), &c.labels(), &owners, 0});
  const auto data = makeDataWarehouse(graphs, 1, {}, MemoryPieces::Pages);
  std::vector<std::string> launches;
  Trace trace(Trace::Clock::now(), Trace::kUsualBudget, [&](const TraceRecords& records) {
    for (const DeviceSpan& span : records.onDevices) {
      if (span.run != 5) continue;
      launches.push_back(std::string(span.what.name) + ", " + std::string(asText(span.what.work)) + " of " +
                         std::to_string(span.what.tasks) + ", " + std::to_string(span.what.bytes) + " bytes");
    }
  });
  LoopbackWorld world(1, {});
  runRanks(world, [&](Transport& transport) {
    const auto executor = makeInOrderExecutor();
    RunnerOptions options;
    options.trace = &trace;
    options.devices.kind = DeviceKind::Emulated;
    options.devices.numbers = {0};
    options.devices.standbyThread = false;
    options.devices.placement = placement;
    options.devices.emulated.longestDelay = std::chrono::microseconds(5);
    StepRunner runner(graphs, *data, transport, *executor, options);
    for (std::int64_t run = 0; run <= 5; ++run) {
      runner.run(run == 0 ? 0 : 1, {0.0, 0.0, run, {}});
      if (!parts.empty()) runner.placeOnHost(parts[static_cast<std::size_t>(run + 1) % parts.size()]);
    }
    trace.flush();
  });
  std::sort(launches.begin(), launches.end());
  return launches;
}

TEST(PlacementAtRest, LaunchesWhatDevicesAloneDo) {
  const std::vector<std::string> alone = launchesOfTheFifthRun(DevicePlacement::Auto, {});
  ASSERT_FALSE(alone.empty());

  // The initial plan on the device, a run on the host, one on both sides, and home again.
  const std::vector<double> parts{0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0};
  EXPECT_EQ(launchesOfTheFifthRun(DevicePlacement::Cost, parts), alone);
}

TEST(PlacementAtRest, LaunchesNothingWhereTheHostHasAll) {
  const std::vector<double> parts(8, 1.0);
  EXPECT_TRUE(launchesOfTheFifthRun(DevicePlacement::Cost, parts).empty());
}

}  // namespace
}  // namespace tessera
