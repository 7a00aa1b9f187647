#include "scheduler/tracing/node_annotations.hpp"

#include <map>

#include "scheduler/diagnostics/work_names.hpp"

namespace tessera::detail {
namespace {

/// Registers each name once.
class RegisteredNames {
 public:
  explicit RegisteredNames(NvtxAnnotations& ranges) : ranges_(ranges) {}
  NvtxAnnotations::Name of(const std::string& text) {
    const auto [at, isNew] = names_.try_emplace(text, nullptr);
    if (isNew) at->second = ranges_.name(text);
    return at->second;
  }

 private:
  NvtxAnnotations& ranges_;
  std::map<std::string, NvtxAnnotations::Name> names_;
};

}  // namespace

NodeAnnotations::NodeAnnotations(NvtxAnnotations& ranges, const CompiledGraphs& graphs, std::size_t plan)
    : ranges_(ranges), marks_(graphs.plans[plan].nodeCount()) {
  const CompiledGraph& graph = graphs.plans[plan];
  const WorkNames names(graphs, plan);
  RegisteredNames registered(ranges);
  plan_ = registered.of(graph.plan->name());
  for (const NodeBlock& block : graph.blocks) {
    const bool onPatches =
        block.kind == NodeKind::Fill || (block.kind == NodeKind::Task && graph.unitOf(block).hasPatch());
    for (std::int32_t n = 0; n < block.count; ++n) {
      const NodeId node = block.firstNode + n;
      Marks& marks = marks_[node];
      if (block.kind != NodeKind::Receive) marks.work = registered.of(names.work(node));
      const std::string wait = names.wait(node);
      if (!wait.empty()) marks.wait = registered.of(wait);
      const auto item = static_cast<std::size_t>(block.item + n);
      if (block.kind == NodeKind::Send) marks.number = graph.sends[item].bytes;
      if (block.kind == NodeKind::Receive) marks.number = graph.receives[item].bytes;
      if (onPatches) {
        const auto local = static_cast<std::size_t>(block.firstLocal + n);
        marks.number = graphs.hierarchy->patch(graphs.ownPatches[local]).id;
      }
    }
  }
}

void NodeAnnotations::departs(NodeId node) {
  Marks& marks = marks_[node];
  marks.underWay = ranges_.start(marks.wait, marks.number);
}

void NodeAnnotations::arrives(NodeId node) { ranges_.end(marks_[node].underWay); }

}  // namespace tessera::detail
