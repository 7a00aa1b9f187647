#pragma once

#include <map>
#include <vector>

#include "taskgraph/detail/halo_geometry.hpp"
#include "taskgraph/detail/halo_needs.hpp"
#include "taskgraph/detail/resolved_plan.hpp"

namespace tessera::detail {

/// Turns one resolved plan into the arrays of a CompiledGraph, from one rank's point of view: an exchange of the Old
/// halos first, then task by task in an order that can run, each followed by the exchange of what it wrote.
class GraphBuilder {
 public:
  GraphBuilder(const ResolvedPlan& plan, const CompileInput& input, std::span<const PatchId> ownPatches);

  CompiledGraph build();

 private:
  using Node = std::int32_t;
  /// A value whose halo is exchanged together with others of the same stage (all Old ones, or those of one task).
  using Stage = std::vector<HaloNeed>;

  /// What the builder knows of the current value of a label on each own patch.
  struct ValueState {
    std::vector<Node> producer;              ///< task node that left it; -1 for Old
    std::vector<Node> halo;                  ///< node that filled its halo, or -1
    std::vector<std::vector<Node>> readers;  ///< nodes that read the owned indices of this value
    std::vector<std::vector<Node>> haloReaders;  ///< task nodes that read its halo
  };
  using ValueKey = std::pair<LabelId, std::int32_t>;  ///< label and version, -1 for Old

  void addExchange(const Stage& stage, std::int64_t stageNumber);
  void addSends(const Stage& stage, std::int64_t stageNumber);
  void addReceives(const Stage& stage, std::int64_t stageNumber);
  void addHaloFill(const HaloNeed& need, std::size_t local);
  void addTask(std::int32_t task);
  void addInstance(std::int32_t task, std::size_t local);
  void addReadEdges(Node node, const ResolvedRead& read, std::size_t local);
  void addWriteEdges(Node node, const ResolvedWrite& write, std::size_t local);
  void addReductions();
  void finishEdges();

  Node addNode(NodeKind kind, std::size_t item, int priority);
  void addEdge(Node before, Node after);
  ValueState& value(LabelId label, std::int32_t version);
  const Patch& ownPatch(std::size_t local) const { return input_.hierarchy->patch(ownPatches_[local]); }
  /// Position of an own patch, or -1.
  std::int32_t localOf(PatchId patch) const;
  Rank ownerOf(PatchId patch) const { return (*input_.owners)[static_cast<std::size_t>(patch)]; }
  Box targetOf(const HaloNeed& need, const Patch& patch) const;

  const ResolvedPlan& plan_;
  const CompileInput& input_;
  std::vector<PatchId> ownPatches_;
  CompiledGraph graph_;
  std::map<ValueKey, ValueState> values_;
  std::vector<std::vector<Node>> successors_;
  /// Of the exchange being built: the receive node of each peer, and where each halo's pieces lie in its message.
  std::map<Rank, Node> receiveNodes_;
  std::map<std::pair<ValueKey, std::int32_t>, std::vector<std::pair<Node, HaloUnpack>>> arriving_;
};

}  // namespace tessera::detail
