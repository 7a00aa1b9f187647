#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/engine/program.hpp"

namespace tessera::engine {

/// Tasks and which of them wait for which: handed to an engine as a whole, after which ready tasks go from
/// worker to worker and never back to the host. A plain value, to be built by one thread.
///
///   TaskGraph graph(program);
///   const auto a = graph.add<Axpy>({...});
///   const auto b = graph.add<Dot>({...});
///   graph.precede(a, b);                        // b begins after a has ended
///   GraphRun run = engine.submit(graph);
///   engine.wait(run);
///   const double d = run.outcome<Dot>(b).result.value;
///
/// A task whose predecessor did not end as Done is not run; it ends as Skipped, and so do those behind it.
class TaskGraph {
 public:
  using Node = std::int32_t;

  /// `program` outlives the graph.
  explicit TaskGraph(const Program& program) : program_(&program) {}

  template <TaskKind Kind>
  Node add(const typename Kind::Arguments& arguments) {
    return add(taskOf<Kind>(program_->numberOf<Kind>(), arguments));
  }
  Node add(const Task& task) {
    tasks_.push_back(task);
    return static_cast<Node>(tasks_.size()) - 1;
  }
  void precede(Node before, Node after) { edges_.emplace_back(before, after); }

  std::int64_t size() const { return std::ssize(tasks_); }
  const std::vector<Task>& tasks() const { return tasks_; }
  const std::vector<std::pair<Node, Node>>& edges() const { return edges_; }

  /// Throws UsageError where a number is not a node's, or tasks wait for each other in a cycle.
  void check() const;

 private:
  const Program* program_;
  std::vector<Task> tasks_;
  std::vector<std::pair<Node, Node>> edges_;
};

}  // namespace tessera::engine
