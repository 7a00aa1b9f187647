#include "scheduler/diagnostics/node_names.hpp"

#include "taskgraph/moves/node_access.hpp"

namespace tessera::detail {
namespace {

class Names {
 public:
  Names(const CompiledGraphs& graphs, std::size_t plan)
      : graphs_(graphs), graph_(graphs.plans[plan]), moves_(graphs, plan) {}

  std::string node(NodeId node) const {
    const NodeBlock& block = graph_.block(node);
    const std::int32_t number = node - block.firstNode;
    const auto item = static_cast<std::size_t>(block.item + number);
    switch (block.kind) {
      case NodeKind::Task:
        return task(graph_.unitOf(block), block.firstLocal + number);
      case NodeKind::Fill:
        return fill(graph_.fillOf(block), block.firstLocal + number);
      case NodeKind::Send:
        return message(graph_.sends[item], " to rank ") + sent(block.item + number);
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
    const std::string& name = graph_.declarationOf(unit).name;
    const char* of = unit.part == UnitPart::Release ? "what is left by " : "";
    return unit.hasPatch() ? of + name + " on " + patch(local) : name;
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
  std::string sent(std::int32_t send) const {
    const Range items = graph_.sends[static_cast<std::size_t>(send)].items;
    std::string text;
    forEachAccessOfSend(moves_, send, [&](const NodeAccess& access) {
      if (access.memory.in != MoveRef::In::Entry || access.item != items.begin) return;
      text = " (" + value(access.label, access.generation) + " of " + patch(access.memory.number) +
             (items.size() > 1 ? " and more)" : ")");
    });
    return text;
  }
  /// The first node that needs the message.
  std::string received(std::int32_t message) const {
    for (const NodeBlock& block : graph_.blocks) {
      if (block.kind == NodeKind::Receive) continue;
      for (std::int32_t n = 0; n < block.count; ++n) {
        bool needs = false;
        forEachAccess(moves_, block.firstNode + n, [&](const NodeAccess& access) {
          needs |= access.memory.in == MoveRef::In::Received && access.memory.number == message;
        });
        if (needs) return " (for " + node(block.firstNode + n) + ")";
      }
    }
    return "";
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  MoveBuilder moves_;
};

}  // namespace

std::string nodeName(const CompiledGraphs& graphs, std::size_t plan, NodeId node) {
  return Names(graphs, plan).node(node);
}

std::string placedNodeName(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           NodeId node) {
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
