#include "scheduler/tracing/node_ranges.hpp"

#include <map>

#include "scheduler/diagnostics/work_names.hpp"

namespace tessera::detail {
namespace {

/// Registers each name once.
class RegisteredNames {
 public:
  explicit RegisteredNames(NvtxRanges& ranges) : ranges_(ranges) {}
  NvtxRanges::Name of(const std::string& text) {
    const auto [at, isNew] = names_.try_emplace(text, nullptr);
    if (isNew) at->second = ranges_.name(text);
    return at->second;
  }

 private:
  NvtxRanges& ranges_;
  std::map<std::string, NvtxRanges::Name> names_;
};

}  // namespace

NodeRanges::NodeRanges(NvtxRanges& ranges, const CompiledGraphs& graphs, std::size_t plan)
    : ranges_(ranges), marks_(static_cast<std::size_t>(graphs.plans[plan].nodeCount())) {
  const CompiledGraph& graph = graphs.plans[plan];
  const WorkNames names(graphs, plan);
  RegisteredNames registered(ranges);
  plan_ = registered.of(graph.plan->name());
  for (const NodeBlock& block : graph.blocks) {
    const bool onPatches =
        block.kind == NodeKind::Fill ||
        (block.kind == NodeKind::Task && graph.units[static_cast<std::size_t>(block.item)].level >= 0);
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t node = block.firstNode + n;
      Marks& marks = marks_[static_cast<std::size_t>(node)];
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

void NodeRanges::departs(std::int32_t node) {
  Marks& marks = marks_[static_cast<std::size_t>(node)];
  marks.underWay = ranges_.start(marks.wait, marks.number);
}

void NodeRanges::arrives(std::int32_t node) { ranges_.end(marks_[static_cast<std::size_t>(node)].underWay); }

}  // namespace tessera::detail
