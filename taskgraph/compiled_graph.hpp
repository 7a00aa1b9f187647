#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grid/generation.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// What a node of a compiled graph does.
enum class NodeKind : std::uint8_t {
  Task,     ///< one task on one own patch
  Halo,     ///< fills the halo of one variable on one own patch: copies, unpacking, boundary conditions
  Send,     ///< packs and sends one message
  Receive,  ///< waits for one message
  Reduce,   ///< joins the contributions of all patches and ranks
};

/// A node: its kind and its position in the list of that kind.
struct GraphNode {
  NodeKind kind = NodeKind::Task;
  std::int32_t item = 0;
};

/// A half-open range of a flat list.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
};

/// One access of a task instance: `declared` is what the task may touch on this patch.
struct InstanceAccess {
  std::uint8_t mode = 0;  ///< an AccessMode of the data warehouse: 0 read Old, 1 read New, 2 write, 3 modify
  LabelId label = -1;
  Box declared;
};

/// One task on one own patch.
struct TaskInstance {
  std::int32_t task = 0;   ///< position in the plan
  std::int32_t local = 0;  ///< position of the patch in `ownPatches`
  Range accesses;
};

/// A copy between two own patches: `region` in the indices of the destination, read from region - `shift`.
struct HaloCopy {
  std::int32_t source = 0;  ///< own patch
  Box region;
  Index shift;
};

/// A piece of a received message that belongs into a halo.
struct HaloUnpack {
  std::int32_t message = 0;  ///< position in `receives`
  std::int64_t offset = 0;   ///< bytes from the start of the message
  Box region;
};

/// Boundary condition to apply on `region`, all of which lies beyond `side` of the domain.
struct HaloBoundary {
  std::int8_t side = 0;
  Box region;
};

/// All that fills the halo of one variable on one own patch.
struct HaloFill {
  LabelId label = -1;
  Generation generation = Generation::Old;
  std::int32_t local = 0;
  Range copies;
  Range unpacks;
  Range boundaries;  ///< in the order in which they have to be applied
};

/// A piece of a message to send: indices of an own patch.
struct PackItem {
  LabelId label = -1;
  Generation generation = Generation::Old;
  std::int32_t source = 0;
  Box region;
  std::int64_t offset = 0;
};

/// One message a peer and stage. Both sides derive it from the same geometry, so tags are dense and need no talk.
struct MessagePlan {
  Rank peer = 0;
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
  Range items;  ///< PackItems of a send; empty for a receive
};

/// One reduction of the plan; every rank has the same list in the same order.
struct ReductionPlan {
  LabelId reduction = -1;
  ReductionKind kind = ReductionKind::Min;
  Range contributions;  ///< own (task, patch) contributions in patch order
};

/// Where a contribution comes from.
struct ContributionSlot {
  std::int32_t instance = 0;
};

/// Everything needed to run one step plan from one rank's point of view: flat arrays, resolved to own patches.
/// Immutable; shared by all threads.
struct CompiledGraph {
  const StepPlan* plan = nullptr;

  std::vector<GraphNode> nodes;  ///< in an order that respects all edges
  std::vector<std::int32_t> predecessorCounts;
  std::vector<std::int64_t> successorOffsets;  ///< nodes + 1
  std::vector<std::int32_t> successorList;
  std::vector<int> priorities;

  std::vector<TaskInstance> instances;
  std::vector<InstanceAccess> accesses;
  std::vector<HaloFill> halos;
  std::vector<HaloCopy> copies;
  std::vector<HaloUnpack> unpacks;
  std::vector<HaloBoundary> boundaries;
  std::vector<MessagePlan> sends;
  std::vector<MessagePlan> receives;
  std::vector<PackItem> packItems;
  std::vector<ReductionPlan> reductions;
  std::vector<ContributionSlot> contributions;

  std::vector<LabelId> written;  ///< labels whose New value becomes Old after the step

  std::span<const std::int32_t> successors(std::int32_t node) const {
    const auto n = static_cast<std::size_t>(node);
    return std::span(successorList)
        .subspan(static_cast<std::size_t>(successorOffsets[n]),
                 static_cast<std::size_t>(successorOffsets[n + 1] - successorOffsets[n]));
  }
};

/// What one rank has to store of one variable on one own patch.
struct StorageNeed {
  LabelId label = -1;
  PatchId patch = 0;
  Box window;
  bool hasOld = true;
};

/// The compiled plans of a simulation and the memory they share.
struct CompiledGraphs {
  std::shared_ptr<const Hierarchy> hierarchy;
  const LabelTable* labels = nullptr;
  Rank rank = 0;
  std::vector<PatchId> ownPatches;  ///< ascending
  std::vector<CompiledGraph> plans;
  std::vector<StorageNeed> storage;
};

}  // namespace tessera
