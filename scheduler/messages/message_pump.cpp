#include "scheduler/messages/message_pump.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

MessagePump::MessagePump(const CompiledGraph& graph, Transport& transport, SendLimit limit, FaultPlan* faults,
                         Trace* trace)
    : graph_(graph),
      transport_(transport),
      limit_(limit),
      faults_(faults),
      trace_(trace),
      sendNodes_(graph.sends.size()),
      receiveNodes_(graph.receives.size()),
      reductionNodes_(graph.reductions.size()),
      submittedSends_(graph.sends.size()),
      submittedReceives_(graph.receives.size()),
      submittedReductions_(graph.reductions.size()),
      sendOpen_(graph.sends.size(), 0),
      receiveHalves_(graph.receives.size(), 0),
      rounds_{ReductionRound(graph, transport, trace), ReductionRound(graph, transport, trace)} {
  TESSERA_EXPECT(limit.messages >= 1, "allow at least one message at a time");
  prepareMessages();
  queue_.reserve(graph.sends.size());
  finished_.reserve(graph.sends.size() + graph.receives.size() + graph.reductions.size() + 1);
}

void MessagePump::prepareMessages() {
  std::vector<PreparedMessage> wanted;
  const auto add = [&wanted](PreparedMessage::Direction direction, const MessagePlan& message) {
    wanted.push_back({direction, message.peer, message.tag, message.bytes});
  };
  for (const MessagePlan& message : graph_.sends) add(PreparedMessage::Direction::Send, message);
  for (const MessagePlan& message : graph_.receives) add(PreparedMessage::Direction::Receive, message);
  messages_ = transport_.prepare(wanted);
}

void MessagePump::begin(std::span<double> control, bool ahead) {
  std::fill(receiveHalves_.begin(), receiveHalves_.end(), std::uint8_t{0});
  queue_.clear();
  nextSend_ = 0;
  ++steps_;
  messages_->start(static_cast<std::int32_t>(graph_.sends.size()),
                   static_cast<std::int32_t>(graph_.receives.size()));
  ahead_ = ahead;
  round_ = 1 - round_;
  reductions().begin();
  hasControl_ = !control.empty();
  if (hasControl_) control_ = transport_.allReduceMax(control);
}

void MessagePump::end() {
  if (hasControl_) transport_.wait(control_);
  hasControl_ = false;
}

void MessagePump::submitSend(std::int32_t send, std::int32_t node) {
  sendNodes_[static_cast<std::size_t>(send)] = node;
  submittedSends_.push(send);
}

void MessagePump::submitReceive(std::int32_t receive, std::int32_t node) {
  receiveNodes_[static_cast<std::size_t>(receive)] = node;
  submittedReceives_.push(receive);
}

void MessagePump::submitReduction(std::int32_t reduction, std::int32_t node) {
  reductionNodes_[static_cast<std::size_t>(reduction)] = node;
  submittedReductions_.push(reduction);
}

std::span<const std::int32_t> MessagePump::poll() {
  finished_.clear();
  startSubmitted();
  for (const std::int32_t message : messages_->testSome()) finishMessage(message);
  startQueued();
  lookAfterReductions();
  return finished_;
}

std::span<const std::int32_t> MessagePump::alsoReport(std::int32_t node) {
  finished_.push_back(node);
  return finished_;
}

void MessagePump::lookAfterReductions() {
  ReductionRound& round = reductions();
  for (const std::int32_t started : round.start()) {
    if (ahead_) finished_.push_back(round.nodeOf(started));
  }
  for (const std::int32_t done : round.test()) {
    if (!ahead_) finished_.push_back(round.nodeOf(done));
  }
}

void MessagePump::startSubmitted() {
  queueSends();
  submittedReceives_.takeAll([this](std::int32_t receive) { finishReceive(receive, kAwaited); });
  submittedReductions_.takeAll([this](std::int32_t reduction) {
    reductions().add(reduction, reductionNodes_[static_cast<std::size_t>(reduction)]);
  });
}

/// The last one comes first out of the submissions.
void MessagePump::queueSends() {
  const auto before = static_cast<std::ptrdiff_t>(queue_.size());
  submittedSends_.takeAll([this](std::int32_t send) {
    if (dropped(send)) return;
    queue_.push_back(send);
    sendOpen_[static_cast<std::size_t>(send)] = 1;
  });
  std::reverse(queue_.begin() + before, queue_.end());
  startQueued();
}

void MessagePump::startQueued() {
  for (; nextSend_ < queue_.size(); ++nextSend_) {
    const std::int32_t send = queue_[nextSend_];
    const std::int64_t bytes = graph_.sends[static_cast<std::size_t>(send)].bytes;
    const bool full = sendsUnderWay_ >= limit_.messages || bytesUnderWay_ + bytes > limit_.bytes;
    if (full && sendsUnderWay_ > 0) return;
    ++sendsUnderWay_;
    bytesUnderWay_ += bytes;
    messages_->start(send);
  }
}

bool MessagePump::dropped(std::int32_t send) {
  if (faults_ == nullptr || faults_->hit("scheduler.send").effect != FaultEffect::Fail) return false;
  lost_.push_back(sendNodes_[static_cast<std::size_t>(send)]);
  return true;
}

void MessagePump::finishMessage(std::int32_t message) {
  const auto sends = static_cast<std::int32_t>(graph_.sends.size());
  if (message >= sends) {
    return finishReceive(message - sends, kArrived);
  }
  --sendsUnderWay_;
  bytesUnderWay_ -= graph_.sends[static_cast<std::size_t>(message)].bytes;
  sendOpen_[static_cast<std::size_t>(message)] = 0;
  finish(sendNodes_[static_cast<std::size_t>(message)]);
}

/// Its node is finished by the second of the two: the message is there, the node waits for it.
void MessagePump::finishReceive(std::int32_t receive, ReceiveHalf half) {
  const auto r = static_cast<std::size_t>(receive);
  receiveHalves_[r] = static_cast<std::uint8_t>(receiveHalves_[r] | half);
  if (receiveHalves_[r] == (kArrived | kAwaited)) finish(receiveNodes_[r]);
}

void MessagePump::finish(std::int32_t node) {
  if (trace_ != nullptr) trace_->finished(node);
  finished_.push_back(node);
}

std::vector<std::int32_t> MessagePump::begun() {
  finished_.clear();
  startSubmitted();
  std::vector<std::int32_t> nodes = lost_;
  nodes.insert(nodes.end(), finished_.begin(), finished_.end());
  for (std::size_t n = 0; n < sendOpen_.size(); ++n) {
    if (sendOpen_[n] != 0) nodes.push_back(sendNodes_[n]);
  }
  for (std::size_t n = 0; n < receiveHalves_.size(); ++n) {
    if (receiveHalves_[n] == kAwaited) nodes.push_back(receiveNodes_[n]);
  }
  reductions().appendOpenNodes(nodes);
  return nodes;
}

}  // namespace tessera::detail
