#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "taskgraph/storage/stored_windows.hpp"

namespace tessera {

/// One block of a compiled graph with the name that people see: "Heat::advance", "halo of Old temperature",
/// "send to 3 ranks".
struct BlockSummary {
  NodeKind kind = NodeKind::Task;
  std::string name;
  std::int64_t nodes = 0;
  int priority = 0;
  int slack = 0;  ///< see NodeBlock
};

/// All edges from one block to another.
struct BlockEdge {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int64_t edges = 0;
};

/// What a rank exchanges with another one in a run of the plan.
struct PeerSummary {
  Rank peer = 0;
  std::int64_t sends = 0;
  std::int64_t sendBytes = 0;
  std::int64_t receives = 0;
  std::int64_t receiveBytes = 0;
};

/// Memory of one variable on the own patches, halos included, all generations together.
struct LabelMemory {
  LabelId label = -1;
  std::int64_t patches = 0;
  int generations = 1;  ///< 2 where some plan reads Old
  std::int64_t bytes = 0;
  std::int64_t distinctBytes = 0;  ///< of the indices that some patch needs, each once
  std::int64_t sharedWindows = 0;  ///< windows that several patches store as one
  bool shared = false;             ///< on some level other variables use the same memory at other times
};

/// A variable that lives between plans: read as Old, or left behind; and the plans at the other end.
struct CarryOver {
  LevelLabel what;
  std::vector<std::string> plans;
};

/// The longest chain of tasks that wait for one another, through fills and messages of this rank.
struct CriticalPath {
  std::int64_t tasks = 0;
  std::int64_t nodes = 0;
  std::vector<std::int32_t> blocks;
};

/// One plan from one rank's point of view, in numbers.
struct GraphSummary {
  std::vector<BlockSummary> blocks;
  std::vector<BlockEdge> edges;  ///< by `from`, then `to`
  std::vector<PeerSummary> peers;
  PeerSummary exchanged;                ///< with all peers together
  std::int64_t wholeLevelReceives = 0;  ///< of the messages in, those that bring parts of whole levels
  std::int64_t wholeLevelBytes = 0;
  std::vector<LabelMemory> labels;  ///< of all plans, which share it
  std::int64_t gathers = 0;         ///< buffers for cells of other levels, in this plan
  double overhead = 1.0;            ///< bytes of windows over distinct bytes, of all variables
  MemoryPlan planned;               ///< of all plans, which share it
  std::int64_t messageBuffers = 0;  ///< bytes in flight, both directions
  std::int64_t graphBytes = 0;      ///< of the arrays of the graph itself
  CriticalPath longest;
  std::vector<CarryOver> readsOld;  ///< with the plans that write it
  std::vector<CarryOver> leaves;    ///< what the plan writes, with the plans that read it as Old

  std::int64_t nodesOf(NodeKind kind) const;
  std::int64_t edgeCount() const;
  /// Variables, gathers and message buffers.
  std::int64_t memory() const { return planned.total() + messageBuffers; }
  std::int64_t memoryWithoutReuse() const { return planned.totalWithoutReuse() + messageBuffers; }
};

/// Summarises plan number `plan`. O(nodes + edges). Pure: any rank of any number, without MPI.
GraphSummary summarise(const CompiledGraphs& graphs, std::size_t plan);

/// Bytes of the arrays of a graph.
std::int64_t bytesOf(const CompiledGraph& graph);

/// "levels.stamp", or on a hierarchy of several levels "levels.stamp on level 1".
std::string nameOf(const LevelLabel& what, const CompiledGraphs& graphs);

}  // namespace tessera
