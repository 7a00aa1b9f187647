#pragma once

#include <memory>
#include <string>
#include <utility>

#include "datawarehouse/task_context.hpp"
#include "scheduler/engine/engine_batch.hpp"
#include "taskgraph/begun_work.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {
namespace detail {

/// The small tasks of one task on one patch.
class EngineWork final : public BegunWork {
 public:
  EngineWork(std::shared_ptr<engine::Engine> engine, const TaskFrame& frame)
      : engine_(std::move(engine)), batch_(*engine_, nameOf(frame)) {}
  bool proceed() override { return batch_.proceed(); }
  std::string text() const override { return batch_.text(); }
  engine::EngineBatch& batch() { return batch_; }

 private:
  static std::string nameOf(const TaskFrame& frame) {
    std::string name(frame.task);
    if (frame.patch != nullptr) name += " on " + asText(*frame.patch);
    return name;
  }

  std::shared_ptr<engine::Engine> engine_;
  engine::EngineBatch batch_;
};

}  // namespace detail

/// Bodies of tasks that feed an engine: `body(task, batch)` is called once for each patch, on a thread of the
/// step, and fills the batch; the task has ended when all small tasks have. Meanwhile the thread runs other
/// tasks of the step.
///
///   step.task("Reactions::advance")
///       .reads(Old, amount_)
///       .writes(amount_)
///       .runs<engine::Engine>(engine_, [=](const auto& task, engine::EngineBatch& batch) {
///         const auto in = task.read(Old, amount);
///         const auto out = task.write(amount);
///         ... batch.add<IntegrateRow>({batch.input(row of in), batch.output(row of out), n, task.dt()}) ...
///       });
///
/// The task runs on the host, in checked mode too, where nobody sees which values its small tasks touch: NaN
/// that they leave is found all the same. It contributes to no reduction.
template <>
struct BodyAt<engine::Engine> {
  template <class Body>
  static TaskBody make(std::shared_ptr<engine::Engine> engine, const Body& body) {
    TaskBody made;
    made.begins = [engine = std::move(engine), body](const TaskFrame& frame) -> std::unique_ptr<BegunWork> {
      auto work = std::make_unique<detail::EngineWork>(engine, frame);
      body(PatchTask<Cpu>(frame), work->batch());
      return work;
    };
    return made;
  }
};

}  // namespace tessera
