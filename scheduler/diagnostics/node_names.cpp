#include "scheduler/diagnostics/node_names.hpp"

#include <algorithm>
#include <optional>

namespace tessera::detail {
namespace {

class Names {
 public:
  Names(const CompiledGraphs& graphs, std::size_t plan) : graphs_(graphs), graph_(graphs.plans[plan]) {}

  std::string node(std::int32_t node) const {
    const NodeBlock& block = graph_.block(node);
    const std::int32_t number = node - block.firstNode;
    const auto item = static_cast<std::size_t>(block.item + number);
    switch (block.kind) {
      case NodeKind::Task:
        return task(graph_.units[static_cast<std::size_t>(block.item)], block.firstLocal + number);
      case NodeKind::Fill:
        return fill(graph_.fills[static_cast<std::size_t>(block.item)], block.firstLocal + number);
      case NodeKind::Send:
        return message(graph_.sends[item], " to rank ") + sent(graph_.sends[item]);
      case NodeKind::Receive:
        return message(graph_.receives[item], " from rank ") + received(block.item + number);
      case NodeKind::Reduce:
        return "the reduction of " + graphs_.labels->reductionName(graph_.reductions[item].reduction) +
               " over all ranks";
    }
    return "";
  }

 private:
  std::string patch(std::int32_t local) const {
    return asText(graphs_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]));
  }
  std::string value(LabelId label, Generation generation) const {
    return (generation == Generation::Old ? "Old " : "New ") + graphs_.labels->info(label).name;
  }
  std::string task(const TaskUnit& unit, std::int32_t local) const {
    const std::string& name = graph_.plan->tasks()[static_cast<std::size_t>(unit.task)].name;
    return unit.level < 0 ? name : name + " on " + patch(local);
  }
  std::string fill(const FillPlan& fill, std::int32_t local) const {
    const std::string what = value(fill.label, fill.generation);
    switch (fill.reach) {
      case Reach::Patch:
        return "the halo of " + what + " around " + patch(local);
      case Reach::Coarser:
        return "the coarser " + what + " under " + patch(local);
      case Reach::Finer:
        return "the finer " + what + " over " + patch(local);
      case Reach::WholeLevel:
        break;
    }
    return what + " on all of level " + std::to_string(fill.sourceLevel);
  }
  std::string message(const MessagePlan& message, const char* way) const {
    return "a message of " + std::to_string(message.bytes) + " bytes" + way + std::to_string(message.peer) +
           ", tag " + std::to_string(message.tag);
  }
  /// The first of what is in it.
  std::string sent(const MessagePlan& message) const {
    if (message.items.size() == 0) return "";
    const PackItem& first = graph_.packItems[static_cast<std::size_t>(message.items.begin)];
    if (first.source < 0) return "";
    return " (" + value(first.label, first.generation) + " of " + patch(first.source) +
           (message.items.size() > 1 ? " and more)" : ")");
  }
  /// The first node that needs the message.
  std::string received(std::int32_t message) const {
    for (const NodeBlock& block : graph_.blocks) {
      if (block.kind != NodeKind::Fill) continue;
      const FillPlan& fill = graph_.fills[static_cast<std::size_t>(block.item)];
      for (std::int32_t row = 0; row < block.count; ++row) {
        const auto pieces = fill.pieces.row(row);
        const auto coarse = fill.coarse.row(row);
        const bool needs = std::any_of(pieces.begin(), pieces.end(),
                                       [&](const FillPiece& p) { return p.message == message; }) ||
                           std::any_of(coarse.begin(), coarse.end(),
                                       [&](const CoarsePiece& p) { return p.message == message; });
        if (needs) return " (for " + this->fill(fill, block.firstLocal + row) + ")";
      }
    }
    return "";
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
};

}  // namespace

std::string nodeName(const CompiledGraphs& graphs, std::size_t plan, std::int32_t node) {
  return Names(graphs, plan).node(node);
}

std::string placedNodeName(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           std::int32_t node) {
  const PlacedBlock& block = placed.block(node);
  if (block.place == kOnHost) return nodeName(graphs, plan, node);
  const std::string device = "device " + std::to_string(block.place);
  const NodeBlock& original = graphs.plans[plan].blocks[static_cast<std::size_t>(block.block)];
  const std::string name = nodeName(graphs, plan, original.firstNode + placed.numberOf(node));
  if (block.kind == PlacedKind::Original || block.kind == PlacedKind::Twin) return name + " on " + device;
  if (block.kind == PlacedKind::Pack) return "packing on " + device + " of " + name;
  const bool in = block.kind == PlacedKind::CopyIn;
  return graphs.labels->info(block.label).name + (in ? " to " : " from ") + device + " after " + name;
}

}  // namespace tessera::detail
