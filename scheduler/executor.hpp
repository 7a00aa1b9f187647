#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tessera {

/// The work of one step as an executor sees it: nodes with counts of unmet predecessors.
/// `run` may be called from several threads at once, for different nodes.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  /// Node numbers; not all of them need to stand for a node.
  virtual std::int64_t nodeCount() const = 0;
  /// Number of predecessors of each node; -1 where no node has the number.
  virtual std::span<const std::int32_t> predecessorCounts() const = 0;
  virtual std::span<const std::int32_t> successors(std::int32_t node) const = 0;
  virtual int priority(std::int32_t node) const = 0;
  /// Does the node's work. False: it has started something that `poll` will report as finished later.
  virtual bool run(std::int32_t node) = 0;
  /// Looks after messages: calls `finished(node)` for each node that has completed since. One caller at a
  /// time.
  virtual void poll(const std::function<void(std::int32_t)>& finished) = 0;
};

/// Decides who runs which ready node when. `execute` returns when all nodes have finished, or throws the
/// first failure after every worker has come to rest.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void execute(NodeSource& source) = 0;
  virtual int threads() const = 0;
  /// Seconds that workers have spent without a node to run, all together.
  virtual double waitSeconds() const = 0;
};

/// One thread, nodes in the order in which they become ready (by node number where several do): the oracle.
std::unique_ptr<Executor> makeInOrderExecutor();
/// `threads` workers, the caller among them.
std::unique_ptr<Executor> makeThreadsExecutor(int threads);

}  // namespace tessera
