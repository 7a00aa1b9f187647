#pragma once

#include <span>

#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step/host_moves.hpp"
#include "scheduler/step/node_runner.hpp"

namespace tessera::detail {

/// Packs messages, and hands them to the pump.
class SendNodes final : public NodeRunner {
 public:
  /// All of these outlive the object.
  SendNodes(const CompiledGraphs& graphs, std::size_t plan, HostMoves& moves, MessagePump& pump,
            const RunningStep& step)
      : graphs_(graphs), graph_(graphs.plans[plan]), moves_(moves), pump_(pump), step_(step) {}

  bool run(const NodeAt& at, int /*worker*/) override {
    const PlacedGraph* placed = step_.placed;
    moves_.pack(at.item(), placed == nullptr ? std::span<const DeviceAssignment>{} : placed->packPlaces);
    if (step_.annotations) step_.annotations->departs(at.node);
    pump_.submitSend(at.item(), at.node);
    return false;
  }
  /// Where the first of the data comes from.
  int homeOf(const NodeAt& at, int workers) const override {
    const Range items = graph_.sends[static_cast<std::size_t>(at.item())].items;
    if (items.size() == 0) return 0;
    return homeOfPatch(graphs_, graph_.packItems[static_cast<std::size_t>(items.begin)].source, workers);
  }
  int urgencyOf(const NodeAt& /*at*/) const override { return kForOtherRanks; }
  bool waits(const NodeAt& /*at*/) const override { return true; }

 private:
  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  HostMoves& moves_;
  MessagePump& pump_;
  const RunningStep& step_;
};

/// Waits for messages.
class ReceiveNodes final : public NodeRunner {
 public:
  /// All of these outlive the object.
  ReceiveNodes(const CompiledGraph& graph, MessagePump& pump, const RunningStep& step)
      : graph_(graph), pump_(pump), step_(step) {}

  bool run(const NodeAt& at, int /*worker*/) override {
    if (step_.annotations) step_.annotations->departs(at.node);
    pump_.submitReceive(at.item(), at.node);
    return false;
  }
  int homeOf(const NodeAt& at, int workers) const override { return at.item() % workers; }
  int urgencyOf(const NodeAt& /*at*/) const override { return kForOtherRanks; }
  bool waits(const NodeAt& /*at*/) const override { return true; }
  int waitsForRank(const NodeAt& at) const override {
    return graph_.receives[static_cast<std::size_t>(at.item())].peer;
  }

 private:
  const CompiledGraph& graph_;
  MessagePump& pump_;
  const RunningStep& step_;
};

}  // namespace tessera::detail
