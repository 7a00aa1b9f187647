#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/virtual_schedule.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/proof/race_check.hpp"

namespace tessera::test {

/// How the same step plans are run: the answer may not depend on any of it.
struct RunShape {
  int ranks = 1;
  int threads = 0;  ///< 0: the in-order executor
  bool checked = false;
  std::optional<std::uint64_t> delaySeed{};
  BufferReuse reuse = BufferReuse::On;
  std::optional<std::vector<LabelId>> kept{};  ///< not given: all labels keep memory of their own
  WindowSharing sharing = WindowSharing::On;
  std::optional<std::uint64_t> schedule{};  ///< given: the virtual executor with this seed, delays included
  SendLimit sends{};
  bool stepsOverlap = false;
  DeviceOptions devices{};
  bool scratch = false;  ///< halos are gathered into scratch windows where that is possible
  bool findNonFinite = true;
  bool proves = true;  ///< off where the same graphs have been proved before
};

/// What each rank does once its runner stands.
using RankBody = std::function<void(StepRunner&, DataWarehouse&, Transport&)>;

/// Compiles `plans` for each of the ranks of a loopback world, proves that no two of their nodes race, and
/// runs `body` on them, a thread a rank, or a fiber a rank under the virtual executor. Returns how many sends
/// a rank had under way at the most.
inline std::int64_t runOnRanks(const RunShape& shape, const std::shared_ptr<const Hierarchy>& hierarchy,
                               const LabelTable& labels, const std::vector<const StepPlan*>& plans,
                               const RankBody& body) {
  LoopbackOptions options;
  options.delaySeed = shape.delaySeed;
  std::optional<VirtualSchedule> schedule;
  if (shape.schedule) {
    schedule.emplace(shape.ranks, *shape.schedule);
    options.delaySeed = shape.schedule;
    options.whenBlocked = [&] { schedule->pass(); };
  }
  LoopbackWorld world(shape.ranks, options);
  const RankMap owners = distribute(*hierarchy, shape.ranks);
  std::vector<CompiledGraphs> compiled;
  std::vector<LabelId> kept(static_cast<std::size_t>(labels.count()));
  std::iota(kept.begin(), kept.end(), 0);
  if (shape.kept) kept = *shape.kept;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    CompileInput input{hierarchy, &labels, &owners, rank, shape.ranks, options.tagBound, shape.reuse, kept};
    input.sharing = shape.sharing;
    if (shape.devices.kind != DeviceKind::None) {
      input.devices = static_cast<int>(shape.devices.numbers.size());
    }
    if (shape.scratch) input.scratch.above = 0;
    compiled.push_back(compileGraphs(plans, input));
  }
  if (shape.proves) expectNoRaces(compiled);
  std::vector<std::int64_t> most(static_cast<std::size_t>(shape.ranks));
  const auto onRank = [&](Transport& transport) {
    const CompiledGraphs& graphs = compiled[static_cast<std::size_t>(transport.rank())];
    const bool pins = shape.devices.kind != DeviceKind::None;
    const auto data = makeDataWarehouse(graphs, std::max(shape.threads, 1), {},
                                        pins ? MemoryPieces::Pages : MemoryPieces::CacheLines);
    const auto executor = schedule             ? makeVirtualExecutor(*schedule, transport.rank())
                          : shape.threads == 0 ? makeInOrderExecutor()
                                               : makeThreadsExecutor(shape.threads);
    RunnerOptions runner;
    runner.checked = shape.checked;
    runner.sends = shape.sends;
    runner.stepsOverlap = shape.stepsOverlap;
    runner.findNonFinite = shape.findNonFinite;
    runner.devices = shape.devices;
    StepRunner run(graphs, *data, transport, *executor, runner);
    body(run, *data, transport);
    most[static_cast<std::size_t>(transport.rank())] = world.statistics(transport.rank()).mostSendsAtOnce;
  };
  if (schedule) {
    runRanks(world, *schedule, onRank);
  } else {
    runRanks(world, onRank);
  }
  return *std::max_element(most.begin(), most.end());
}

}  // namespace tessera::test
