#pragma once

#include <vector>

#include "core/profile/nvtx_annotations.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Tells a profiler what the nodes of one plan do: a range on the worker for each task, halo, packing and
/// joining, and a range of the process for each message and reduction while it is under way. Everything is
/// registered when the object is made; a step allocates nothing here.
///
/// Threads: `scopeOf` and `sets` by the one that runs the node, `arrived` by the one that looks after
/// messages, which the hand-over of the message orders behind `sets`.
class NodeAnnotations {
 public:
  /// `ranges`, active, outlives the object.
  NodeAnnotations(NvtxAnnotations& ranges, const CompiledGraphs& graphs, std::size_t plan);

  /// The range of a run of the plan, shown with the number of the step.
  NvtxScope step(std::int64_t number) { return {&ranges_, plan_, number}; }
  /// The range of a node's work, shown with the patch, the bytes of the message, or -1.
  NvtxScope work(std::int32_t node) {
    const Marks& marks = marks_[static_cast<std::size_t>(node)];
    return {marks.work != nullptr ? &ranges_ : nullptr, marks.work, marks.number};
  }
  /// A message or reduction is about to be handed over; shown with its bytes, or -1.
  void departs(std::int32_t node);
  /// It is complete.
  void arrives(std::int32_t node);

 private:
  struct Marks {
    NvtxAnnotations::Name work = nullptr;
    NvtxAnnotations::Name wait = nullptr;
    std::int64_t number = -1;
    std::uint64_t underWay = 0;
  };

  NvtxAnnotations& ranges_;
  NvtxAnnotations::Name plan_;
  std::vector<Marks> marks_;  ///< by node
};

}  // namespace tessera::detail
