#pragma once

#include <cstdint>

#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step/node_runner.hpp"
#include "scheduler/step/task_frames.hpp"

namespace tessera::detail {

/// Joins what the tasks of this rank have contributed to a reduction, and hands it to the pump.
class ReduceNodes final : public NodeRunner {
 public:
  /// All of these outlive the object.
  ReduceNodes(const CompiledGraph& graph, MessagePump& pump, const TaskFrames& frames,
              const RunningStep& step)
      : graph_(graph), pump_(pump), frames_(frames), step_(step) {}

  bool run(const NodeAt& at, int worker) override;
  int homeOf(const NodeAt& at, int workers) const override { return at.item() % workers; }
  int urgencyOf(const NodeAt& /*at*/) const override { return kForOtherRanks; }
  bool waits(const NodeAt& /*at*/) const override { return true; }

 private:
  void join(std::int32_t reduction);

  const CompiledGraph& graph_;
  MessagePump& pump_;
  const TaskFrames& frames_;
  const RunningStep& step_;
};

}  // namespace tessera::detail
