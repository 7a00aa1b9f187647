#include "tools/bench/taskbench/pattern_graph.hpp"

#include <algorithm>

namespace tessera::bench {
namespace {

class GraphBuilder {
 public:
  explicit GraphBuilder(const Pattern& pattern) : pattern_(pattern) {
    graph_.width = pattern.width;
    for (int step = 0; step < pattern.steps; ++step) {
      const Columns row = columnsOf(pattern, step);
      firstNodes_.push_back(static_cast<std::int32_t>(graph_.tasks()));
      for (int column = row.first; column < row.end; ++column) graph_.places.push_back({step, column});
    }
  }

  ReplayGraph build() {
    const auto tasks = static_cast<std::int32_t>(graph_.tasks());
    std::vector<std::vector<std::int32_t>> successors(static_cast<std::size_t>(tasks));
    for (std::int32_t node = 0; node < tasks; ++node) {
      predecessors_.push_back(predecessorsOf(node));
      graph_.predecessorCounts.push_back(static_cast<std::int32_t>(predecessors_.back().size()));
      for (const std::int32_t before : predecessors_.back())
        successors[static_cast<std::size_t>(before)].push_back(node);
    }
    for (const std::vector<std::int32_t>& list : successors) {
      graph_.successors.numbers.insert(graph_.successors.numbers.end(), list.begin(), list.end());
      graph_.successors.endList();
    }
    return std::move(graph_);
  }

 private:
  std::int32_t nodeAt(int step, int column) const {
    return firstNodes_[static_cast<std::size_t>(step)] + column - columnsOf(pattern_, step).first;
  }

  /// Ascending; appends the node's inputs to the graph.
  std::vector<std::int32_t> predecessorsOf(std::int32_t node) {
    const auto [step, column] = graph_.places[static_cast<std::size_t>(node)];
    std::vector<std::int32_t> before;
    for (const int from : inputsOf(pattern_, step, column)) before.push_back(nodeAt(step - 1, from));
    graph_.inputs.numbers.insert(graph_.inputs.numbers.end(), before.begin(), before.end());
    graph_.inputs.endList();
    if (!columnsOf(pattern_, step - 2).has(column)) return before;

    for (const int reader : readersOf(pattern_, step - 2, column)) before.push_back(nodeAt(step - 1, reader));
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    // Nothing but an edge of its own orders tasks of rows beside each other; those of the row before that may
    // be ordered by a task between them.
    const std::int32_t writer = nodeAt(step - 2, column);
    const bool implied = std::any_of(before.begin(), before.end(), [&](std::int32_t between) {
      const auto& list = predecessors_[static_cast<std::size_t>(between)];
      return std::binary_search(list.begin(), list.end(), writer);
    });
    if (!implied) before.insert(before.begin(), writer);
    return before;
  }

  const Pattern pattern_;
  ReplayGraph graph_;
  std::vector<std::int32_t> firstNodes_;                 ///< of each row
  std::vector<std::vector<std::int32_t>> predecessors_;  ///< by node
};

}  // namespace

ReplayGraph graphOf(const Pattern& pattern) { return GraphBuilder(pattern).build(); }

}  // namespace tessera::bench
