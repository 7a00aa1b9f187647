#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fault_point.hpp"
#include "core/id_vector.hpp"
#include "taskgraph/ids.hpp"

namespace tessera {

class VirtualSchedule;

/// What an executor wants to know about a node once, before the first replay.
struct NodeTraits {
  bool used = true;  ///< false: the number is not in use and must never run
  int home = 0;      ///< worker, below the count that was asked for, that owns the data of the node
  int urgency = 0;   ///< larger runs earlier among ready nodes
  /// Among nodes of one urgency those with less of it run earlier, unless a worker has another one in hand:
  /// how much later than others the node could run without making the step longer. 0 to 3.
  int slack = 0;
  bool waits = false;  ///< `run` may start something that `poll` reports as finished later
};

/// The work of one step as an executor sees it: nodes with counts of unmet predecessors. All spans and traits
/// stay the same from `Executor::prepare` on.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  /// The number of every node is below this.
  virtual std::int64_t nodeCount() const = 0;
  IdRange<NodeId> nodes() const { return {NodeId(0), NodeId(nodeCount())}; }
  virtual NodeTraits traits(NodeId node, int workers) const = 0;
  /// Number of predecessors of each node.
  virtual IdSpan<NodeId, const std::int32_t> predecessorCounts() const = 0;
  virtual std::span<const NodeId> successors(NodeId node) const = 0;
  /// Does the node's work as worker `worker`; called by several threads at once, for different nodes. False:
  /// it has started something that `poll` will report as finished later.
  virtual bool run(NodeId node, int worker) = 0;
  /// Looks after messages: the nodes that have completed since, valid until the next call. One caller at a
  /// time.
  virtual std::span<const NodeId> poll() = 0;

  // For the page about a step that makes no progress.

  /// What people call the node.
  virtual std::string describe(NodeId node) const { return "node " + std::to_string(node.value()); }
  /// What a node waits for that `run` has begun and `poll` has not reported: follows its name in a sentence.
  virtual std::string waitsFor(NodeId /*node*/) const { return "waits for another rank"; }
  /// The rank that has to do something before `poll` can report the node, where that is one; else -1.
  virtual int waitsForRank(NodeId /*node*/) const { return -1; }
  /// Nodes that `run` has begun and `poll` has not reported. While nobody is inside `run` or `poll`.
  virtual std::vector<NodeId> begun() { return {}; }
  /// Tells other ranks what this one waits for, and hears what they do: lines about a cycle of ranks or
  /// about ranks that do not answer within `limit`, each with a line break before it. By the thread that
  /// replays, while nobody is inside `run` or `poll`; the replay fails afterwards.
  virtual std::string detectDeadlock(std::chrono::duration<double> /*limit*/) { return {}; }
};

/// One node source, made ready to be replayed by one executor any number of times.
class Replay {
 public:
  virtual ~Replay() = default;
  /// Runs every node once; returns when all have finished, or throws the first failure after every worker has
  /// come to rest. Called by one thread, the same one each time; not for two replays of an executor at once.
  virtual void run() = 0;
};

struct ExecutorOptions {
  /// Worker k runs on core `cores[k]` alone, and so does the calling thread from now on; empty: the operating
  /// system decides.
  std::vector<int> cores{};
  /// A replay in which nothing completes for so many seconds, or the double where it waits for another rank,
  /// fails with a page that says who waits for what; 0: never.
  double stallSeconds = 0.0;
  /// Where a thread cannot even give up, because it is inside a task or a message: what it is in, on a thread
  /// of its own. Should end the process; without it nothing happens.
  std::function<void(const std::string& page)> onHopelessStall{};
  FaultPlan* faults = nullptr;  ///< of tests, at "scheduler.wake" and "scheduler.start"
};

/// Decides who runs which ready node when.
///
///   const auto executor = makeThreadsExecutor(4);
///   const auto replay = executor->prepare(source);   // allocates all that a replay needs
///   for (...) replay->run();                         // no allocation, no mutex
class Executor {
 public:
  virtual ~Executor() = default;
  /// Both `source` and the executor outlive the replay.
  virtual std::unique_ptr<Replay> prepare(NodeSource& source) = 0;
  virtual int threads() const = 0;
  /// Seconds that workers have spent without a node to run, all together. Between replays only.
  virtual double waitSeconds() const = 0;
};

/// One thread, nodes in the order in which they become ready (by node number where several do): the oracle.
std::unique_ptr<Executor> makeInOrderExecutor(ExecutorOptions options = {});
/// `threads` workers, the calling thread among them.
std::unique_ptr<Executor> makeThreadsExecutor(int threads, ExecutorOptions options = {});
/// One thread, ready nodes and looks after messages in an order drawn from the schedule's seed, which a run
/// under the same seed repeats. Made and used inside the rank's turn; `schedule` outlives it.
std::unique_ptr<Executor> makeVirtualExecutor(VirtualSchedule& schedule, int rank);

}  // namespace tessera
