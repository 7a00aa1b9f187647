#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/fault_point.hpp"
#include "core/lock_free/submissions.hpp"
#include "core/transport/transport.hpp"
#include "scheduler/device/moves/message_buffers.hpp"
#include "scheduler/messages/reduction_round.hpp"
#include "scheduler/send_limit.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Moves the messages and reductions of one compiled graph. Any thread hands in what is ready (`submit`); one
/// at a time (`poll`) talks to the transport. No lock and no allocation in either, but for what the transport
/// does.
///
/// Messages are prepared once, when the pump is made, and freed with it. Receives of a step are posted by
/// `begin`, all at once and before anything is sent; so whatever this rank sends, it cannot be the reason
/// that another one's message comes unexpected. Sends are started in the order of their submission as far as
/// the limit allows, at least one at a time. Progress: a send that is under way completes once its receiver
/// has begun the step, which waits for no send of this step; then the next one is started.
///
/// Reductions: see ReductionRound. Their nodes are reported when the results are there or, in a run *ahead*,
/// when they have been started: such a run ends with reductions under way, and the next one takes the other
/// round.
class MessagePump final : public MessageBuffers {
 public:
  /// `faults` and `trace` may be null.
  MessagePump(const CompiledGraph& graph, Transport& transport, SendLimit limit, FaultPlan* faults,
              Trace* trace);

  /// Before a step: `control` is combined (largest wins) over the ranks, in place, alongside the step. A
  /// trace has begun its record of the step.
  void begin(std::span<double> control, bool ahead);
  /// After a step: waits for the control numbers.
  void end();

  /// Where messages of the running step are packed and unpacked: in the memory of the transport, that of the
  /// receiver where both see it. It depends on `turn` alone.
  std::span<std::byte> sendBuffer(std::int32_t send) const override { return messages_->place(send, steps_); }
  std::span<const std::byte> receiveBuffer(std::int32_t receive) const override {
    return messages_->place(static_cast<std::int32_t>(graph_.sends.size()) + receive, steps_);
  }
  /// Buffers of steps with the same turn are the same ones: 0 and 1 alternate.
  std::int32_t parity() const override { return static_cast<std::int32_t>(steps_ % 2); }
  /// Of the buffers of all messages, to be locked in place for devices.
  std::vector<std::span<std::byte>> pages() const override { return messages_->pages(); }

  /// The buffer of send number `send` is packed; `node` is reported when it has left.
  void submitSend(std::int32_t send, std::int32_t node);
  /// `node` waits for receive number `receive`.
  void submitReceive(std::int32_t receive, std::int32_t node);
  /// The two rounds, and the one of the running step or the last one.
  ReductionRound& round(std::size_t n) { return rounds_[n]; }
  std::size_t roundInHand() const { return round_; }
  ReductionRound& reductions() { return rounds_[round_]; }
  /// This rank's share of reduction number `reduction` is in its state of `reductions()`; `node` stands for
  /// it.
  void submitReduction(std::int32_t reduction, std::int32_t node);

  /// Nodes reported since the last call; valid until the next one.
  std::span<const std::int32_t> poll();
  /// Adds a node of the caller's to what the last `poll` has reported.
  std::span<const std::int32_t> alsoReport(std::int32_t node);
  /// Nodes that were submitted and not reported. While nobody is inside `poll` or submits.
  std::vector<std::int32_t> begun();

 private:
  enum ReceiveHalf : std::uint8_t { kArrived = 1, kAwaited = 2 };

  void prepareMessages();
  void startSubmitted();
  void queueSends();
  void startQueued();
  bool dropped(std::int32_t send);
  void finishMessage(std::int32_t message);
  void finishReceive(std::int32_t receive, ReceiveHalf half);
  void finish(std::int32_t node);
  void lookAfterReductions();

  const CompiledGraph& graph_;
  Transport& transport_;
  const SendLimit limit_;
  FaultPlan* faults_;
  Trace* trace_;
  Transport::Request control_ = 0;
  bool hasControl_ = false;

  // Written by whoever submits that number, read by who polls.
  std::vector<std::int32_t> sendNodes_;
  std::vector<std::int32_t> receiveNodes_;
  std::vector<std::int32_t> reductionNodes_;
  Submissions<> submittedSends_;
  Submissions<> submittedReceives_;
  Submissions<> submittedReductions_;

  // Touched by `begin` and by the one thread inside `poll` only.
  std::unique_ptr<PreparedMessages> messages_;  ///< sends, then receives; each is started once a step
  std::int64_t steps_ = 0;                      ///< begun so far
  std::vector<std::int32_t> queue_;             ///< sends of this step in the order of submission
  std::size_t nextSend_ = 0;                    ///< position in `queue_` of the first that was not started
  std::int64_t sendsUnderWay_ = 0;
  std::int64_t bytesUnderWay_ = 0;
  std::vector<char> sendOpen_;               ///< by send: submitted, and not complete
  std::vector<std::uint8_t> receiveHalves_;  ///< by receive: what has come of its ReceiveHalf
  std::array<ReductionRound, 2> rounds_;     ///< take turns
  std::size_t round_ = 0;
  bool ahead_ = false;
  std::vector<std::int32_t> finished_;
  std::vector<std::int32_t> lost_;  ///< nodes of sends that a planned fault has dropped
};

}  // namespace tessera::detail
