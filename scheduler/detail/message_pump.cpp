#include "scheduler/detail/message_pump.hpp"

#include <algorithm>

namespace tessera::detail {

MessagePump::MessagePump(const CompiledGraph& graph, Transport& transport)
    : graph_(graph),
      transport_(transport),
      sendNodes_(graph.sends.size()),
      receiveNodes_(graph.receives.size()),
      reductions_(graph.reductions.size()),
      submittedSends_(graph.sends.size()),
      submittedReceives_(graph.receives.size()),
      submittedReductions_(graph.reductions.size()),
      reductionReady_(graph.reductions.size(), 0) {
  for (const MessagePlan& message : graph.sends)
    sendBuffers_.emplace_back(static_cast<std::size_t>(message.bytes));
  for (const MessagePlan& message : graph.receives) {
    receiveBuffers_.emplace_back(static_cast<std::size_t>(message.bytes));
  }
  const std::size_t operations = graph.sends.size() + graph.receives.size() + graph.reductions.size();
  receiveRequests_.reserve(graph.receives.size());
  pending_.reserve(operations);
  finished_.reserve(operations);
}

void MessagePump::begin(std::span<double> control) {
  receiveRequests_.clear();
  for (std::size_t r = 0; r < graph_.receives.size(); ++r) {
    const MessagePlan& message = graph_.receives[r];
    receiveRequests_.push_back(transport_.receive(message.peer, message.tag, receiveBuffers_[r]));
  }
  nextReduction_ = 0;
  std::fill(reductionReady_.begin(), reductionReady_.end(), 0);
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

void MessagePump::submitReduction(std::int32_t reduction, std::int32_t node, std::span<double> minMax,
                                  std::span<std::int64_t> words) {
  reductions_[static_cast<std::size_t>(reduction)] = {node, minMax, words};
  submittedReductions_.push(reduction);
}

std::span<const std::int32_t> MessagePump::poll() {
  startSubmitted();
  finished_.clear();
  const auto done = [&](const Pending& p) {
    if (!transport_.test(p.request)) return false;
    finished_.push_back(p.node);
    return true;
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), done), pending_.end());
  return finished_;
}

void MessagePump::startSubmitted() {
  submittedSends_.takeAll([this](std::int32_t send) {
    const MessagePlan& message = graph_.sends[static_cast<std::size_t>(send)];
    wait(transport_.send(message.peer, message.tag, sendBuffer(send)),
         sendNodes_[static_cast<std::size_t>(send)]);
  });
  submittedReceives_.takeAll([this](std::int32_t receive) {
    const auto r = static_cast<std::size_t>(receive);
    wait(receiveRequests_[r], receiveNodes_[r]);
  });
  submittedReductions_.takeAll(
      [this](std::int32_t reduction) { reductionReady_[static_cast<std::size_t>(reduction)] = 1; });
  startReductions();
}

void MessagePump::startReductions() {
  while (nextReduction_ < reductions_.size() && reductionReady_[nextReduction_] != 0) {
    startReduction(static_cast<std::int32_t>(nextReduction_++));
  }
}

void MessagePump::startReduction(std::int32_t reduction) {
  const ReductionInput& input = reductions_[static_cast<std::size_t>(reduction)];
  switch (graph_.reductions[static_cast<std::size_t>(reduction)].kind) {
    case ReductionKind::Min:
      return wait(transport_.allReduceMin(input.minMax), input.node);
    case ReductionKind::Max:
      return wait(transport_.allReduceMax(input.minMax), input.node);
    case ReductionKind::Sum:
      return wait(transport_.allReduceSum(input.words), input.node);
  }
}

}  // namespace tessera::detail
