#include "scheduler/engine/task_graph.hpp"

#include <string>

#include "core/text/error.hpp"

namespace tessera::engine {

void TaskGraph::check() const {
  std::vector<std::int32_t> waits(tasks_.size(), 0);
  std::vector<std::vector<Node>> after(tasks_.size());
  for (const auto& [before, next] : edges_) {
    for (const Node node : {before, next}) {
      if (node < 0 || node >= size()) {
        throw UsageError("an edge of the task graph names task " + std::to_string(node) +
                         ", but the graph has " + std::to_string(size()) +
                         " tasks; use the numbers that `add` returned");
      }
    }
    ++waits[static_cast<std::size_t>(next)];
    after[static_cast<std::size_t>(before)].push_back(next);
  }
  std::vector<Node> ready;
  for (Node node = 0; node < size(); ++node) {
    if (waits[static_cast<std::size_t>(node)] == 0) ready.push_back(node);
  }
  std::int64_t reached = 0;
  while (!ready.empty()) {
    const Node node = ready.back();
    ready.pop_back();
    ++reached;
    for (const Node next : after[static_cast<std::size_t>(node)]) {
      if (--waits[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
    }
  }
  if (reached == size()) return;
  Node first = 0;
  while (waits[static_cast<std::size_t>(first)] == 0) ++first;
  throw UsageError("tasks of the graph wait for each other in a circle, task " + std::to_string(first) +
                   " among them or behind them; take one of its edges out");
}

}  // namespace tessera::engine
