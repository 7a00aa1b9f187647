#include "scheduler/step_runner.hpp"

#include <limits>

#include "core/contracts.hpp"
#include "scheduler/detail/graph_run.hpp"

namespace tessera {

struct StepRunner::State {
  const CompiledGraphs& graphs;
  Executor& executor;
  std::vector<std::unique_ptr<detail::GraphRun>> runs;
  std::vector<std::unique_ptr<Replay>> replays;  ///< of `runs`
  StepResult result;
  StepStatistics statistics;
};

StepRunner::StepRunner(const CompiledGraphs& graphs, DataWarehouse& data, Transport& transport,
                       Executor& executor, RunnerOptions options)
    : state_(new State{graphs, executor, {}, {}, {}, {}}) {
  for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) {
    state_->runs.push_back(
        std::make_unique<detail::GraphRun>(graphs, plan, data, transport, options, executor.threads()));
    state_->replays.push_back(executor.prepare(*state_->runs.back()));
  }
}

StepRunner::~StepRunner() = default;

const StepResult& StepRunner::run(std::size_t plan, const StepInputs& inputs) {
  TESSERA_EXPECT(plan < state_->runs.size(), "run one of the compiled plans");
  TESSERA_EXPECT(inputs.control.size() <= 16, "give at most 16 control numbers");
  detail::GraphRun& run = *state_->runs[plan];
  StepResult& result = state_->result;
  result.control.assign(inputs.control.begin(), inputs.control.end());
  result.reductions.assign(static_cast<std::size_t>(state_->graphs.labels->reductionCount()),
                           std::numeric_limits<double>::quiet_NaN());
  run.begin(inputs, result.control);
  if (run.ranges() != nullptr) {
    const NvtxScope scope = run.ranges()->step(inputs.shownStep);
    state_->replays[plan]->run();
  } else {
    state_->replays[plan]->run();
  }
  run.end(result);

  StepStatistics& s = state_->statistics;
  const CompiledGraph& graph = run.graph();
  ++s.steps;
  s.tasks += run.taskCount();
  s.messages += static_cast<std::int64_t>(graph.sends.size());
  for (const MessagePlan& message : graph.sends) s.messageBytes += message.bytes;
  s.taskSeconds = 0.0;
  s.messageSeconds = 0.0;
  for (const auto& r : state_->runs) {
    s.taskSeconds += r->taskSeconds();
    s.messageSeconds += r->messageSeconds();
  }
  s.waitSeconds = state_->executor.waitSeconds();
  return result;
}

const StepStatistics& StepRunner::statistics() const { return state_->statistics; }

}  // namespace tessera
