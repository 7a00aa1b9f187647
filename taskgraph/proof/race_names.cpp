#include "taskgraph/proof/race_names.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

const LevelStorage* storageOf(const CompiledGraphs& rank, const Memory& memory) {
  const PatchId patch = rank.ownPatches[static_cast<std::size_t>(memory.number)];
  const LevelId level = rank.hierarchy->patch(patch).level;
  const auto found = std::find_if(rank.storage.begin(), rank.storage.end(), [&](const LevelStorage& s) {
    return s.label == memory.label && s.level == level;
  });
  return found == rank.storage.end() ? nullptr : &*found;
}

}  // namespace

std::string RaceNames::patch(const CompiledGraphs& rank, std::int64_t local) const {
  return asText(rank.hierarchy->patch(rank.ownPatches[static_cast<std::size_t>(local)]));
}

std::string RaceNames::value(LabelId label, std::int32_t version) const {
  const std::string& name = ranks_.front().labels->info(label).name;
  return version < 0 ? "Old " + name : "New " + name + " (version " + std::to_string(version) + ")";
}

std::string RaceNames::fill(const FillPlan& fill, std::int64_t local, const CompiledGraphs& rank) const {
  const std::string what = value(fill.label, fill.version);
  switch (fill.reach) {
    case Reach::Patch:
      return "halo of " + what + " around " + patch(rank, local);
    case Reach::Coarser:
      return "gather of the coarser " + what + " under " + patch(rank, local);
    case Reach::Finer:
      return "gather of the finer " + what + " over " + patch(rank, local);
    case Reach::WholeLevel:
      break;
  }
  return "gather of " + what + " on all of level " + std::to_string(fill.sourceLevel);
}

std::string RaceNames::node(std::int64_t node) const {
  if (node < 0) return "the step before";
  const Rank r = nodes_.rankOf(node);
  const NodeId n = nodes_.localOf(node);
  const CompiledGraphs& rank = ranks_[static_cast<std::size_t>(r)];
  const CompiledGraph& graph = rank.plans[plan_];
  const NodeBlock& block = graph.block(n);
  const std::int64_t number = n - block.firstNode;
  const auto item = static_cast<std::size_t>(block.item + number);
  std::string text;
  switch (block.kind) {
    case NodeKind::Task: {
      const TaskUnit& unit = graph.unitOf(block);
      text = graph.declarationOf(unit).name;
      if (unit.part == UnitPart::Release) text = "what is left by " + text;
      if (unit.hasPatch()) text += " on " + patch(rank, block.firstLocal + number);
      break;
    }
    case NodeKind::Fill:
      text = fill(graph.fillOf(block), block.firstLocal + number, rank);
      break;
    case NodeKind::Send:
      text = "message to rank " + std::to_string(graph.sends[item].peer) + " with tag " +
             std::to_string(graph.sends[item].tag);
      break;
    case NodeKind::Receive:
      text = "message from rank " + std::to_string(graph.receives[item].peer) + " with tag " +
             std::to_string(graph.receives[item].tag);
      break;
    case NodeKind::Reduce:
      text = "reduction " + rank.labels->reductionName(graph.reductions[item].reduction);
      break;
  }
  return text + " (rank " + std::to_string(r) + ", node " + std::to_string(n.value()) + ")";
}

std::string RaceNames::memory(const Memory& memory) const {
  const CompiledGraphs& rank = ranks_[static_cast<std::size_t>(memory.rank)];
  const std::string where = " of rank " + std::to_string(memory.rank);
  const std::string number = std::to_string(memory.number);
  switch (memory.kind) {
    case Memory::Kind::Entry: {
      const LevelStorage* need = storageOf(rank, memory);
      const bool two = need != nullptr && need->hasOld;
      const std::string generation = !two ? "" : memory.buffer == 0 ? "Old " : "New ";
      return generation + rank.labels->info(memory.label).name + " on " + patch(rank, memory.number) + where;
    }
    case Memory::Kind::Gather:
      return "gather buffer " + number + " for " + rank.labels->info(memory.label).name + where;
    case Memory::Kind::Scratch:
      return "scratch window for " + rank.labels->info(memory.label).name + " around " +
             patch(rank, memory.number) + where;
    case Memory::Kind::Received:
      return "bytes of receive " + number + where;
    case Memory::Kind::Sent:
      return "bytes of send " + number + where;
    case Memory::Kind::Contribution:
      break;
  }
  return "contribution " + number + " to " + rank.labels->reductionName(memory.label) + where;
}

}  // namespace tessera::detail
