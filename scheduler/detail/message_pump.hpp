#pragma once

#include <span>
#include <vector>

#include "core/transport.hpp"
#include "scheduler/detail/submissions.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Moves the messages and reductions of one compiled graph. Any thread hands in what is ready (`submit`); one
/// at a time (`poll`) talks to the transport. Receives of a step are posted by `begin`, before anything is
/// sent. Reductions are started in the order of the plan, which is the same on every rank, whatever became
/// ready first. No lock and no allocation in either, but for what the transport does.
class MessagePump {
 public:
  MessagePump(const CompiledGraph& graph, Transport& transport);

  /// Before a step: `control` is combined (largest wins) over the ranks, in place, alongside the step.
  void begin(std::span<double> control);
  /// After a step: waits for the control numbers.
  void end();

  std::span<std::byte> sendBuffer(std::int32_t send) { return sendBuffers_[static_cast<std::size_t>(send)]; }
  std::span<const std::byte> receiveBuffer(std::int32_t receive) const {
    return receiveBuffers_[static_cast<std::size_t>(receive)];
  }

  /// The buffer of send number `send` is packed; `node` is reported when it has left.
  void submitSend(std::int32_t send, std::int32_t node);
  /// `node` waits for receive number `receive`.
  void submitReceive(std::int32_t receive, std::int32_t node);
  /// This rank's share of reduction number `reduction` is in `minMax` or, for sums, `words`; it becomes the
  /// result in place. Both stay alive until `node` is reported.
  void submitReduction(std::int32_t reduction, std::int32_t node, std::span<double> minMax,
                       std::span<std::int64_t> words);

  /// Nodes reported since the last call; valid until the next one.
  std::span<const std::int32_t> poll();

 private:
  struct Pending {
    Transport::Request request = 0;
    std::int32_t node = 0;
  };
  struct ReductionInput {
    std::int32_t node = 0;
    std::span<double> minMax;
    std::span<std::int64_t> words;
  };

  void startSubmitted();
  void startReductions();
  void startReduction(std::int32_t reduction);
  void wait(Transport::Request request, std::int32_t node) { pending_.push_back({request, node}); }

  const CompiledGraph& graph_;
  Transport& transport_;
  std::vector<std::vector<std::byte>> sendBuffers_;
  std::vector<std::vector<std::byte>> receiveBuffers_;
  Transport::Request control_ = 0;
  bool hasControl_ = false;

  // Written by whoever submits that number, read by who polls.
  std::vector<std::int32_t> sendNodes_;
  std::vector<std::int32_t> receiveNodes_;
  std::vector<ReductionInput> reductions_;
  Submissions<> submittedSends_;
  Submissions<> submittedReceives_;
  Submissions<> submittedReductions_;

  // Touched by `begin` and by the one thread inside `poll` only.
  std::vector<Transport::Request> receiveRequests_;
  std::vector<Pending> pending_;
  std::vector<std::int32_t> finished_;
  std::vector<char> reductionReady_;
  std::size_t nextReduction_ = 0;
};

}  // namespace tessera::detail
