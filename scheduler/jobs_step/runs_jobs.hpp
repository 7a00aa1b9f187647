#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datawarehouse/task_context.hpp"
#include "scheduler/jobs/step_jobs.hpp"
#include "taskgraph/begun_work.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {
namespace detail {

/// The jobs of one task on one patch.
class JobWork final : public BegunWork {
 public:
  JobWork(std::shared_ptr<jobs::StepJobs> devices, const TaskFrame& frame)
      : devices_(std::move(devices)), name_(frame.task) {
    if (frame.patch != nullptr) name_ += " on " + asText(*frame.patch);
  }
  ~JobWork() override {
    if (!hasEnded_) devices_->giveUp(numbers_);
  }
  JobWork(const JobWork&) = delete;
  JobWork& operator=(const JobWork&) = delete;

  jobs::StepJob& jobs() { return jobs_; }
  void begin() {
    for (const jobs::Job& job : jobs_.jobs()) {
      named([&] { numbers_.push_back(devices_->add(job)); });
    }
  }
  bool proceed() override {
    for (const std::size_t number : numbers_) {
      bool isOver = false;
      named([&] { isOver = devices_->proceed(number); });
      if (!isOver) return false;
    }
    for (const std::size_t number : numbers_) devices_->forget(number);
    for (const auto& domain : jobs_.domains()) devices_->forget(*domain);
    hasEnded_ = true;
    jobs_.end();
    return true;
  }
  std::string text() const override {
    std::string text = "waits for jobs of " + name_;
    std::size_t n = 0;
    for (const jobs::Job& job : jobs_.jobs()) {
      text += "; " + job.name() + ": " + devices_->text(numbers_[n++]) + " of " +
              std::to_string(job.space().volume());
    }
    return text;
  }

 private:
  /// A failure says whose job it was.
  template <class Work>
  void named(const Work& work) const {
    try {
      work();
    } catch (const jobs::JobError& error) {
      throw jobs::JobError(error.message() + "\n  step  " + name_);
    }
  }

  std::shared_ptr<jobs::StepJobs> devices_;
  std::string name_;
  jobs::StepJob jobs_;
  std::vector<std::size_t> numbers_;
  bool hasEnded_ = false;
};

}  // namespace detail

/// Bodies of tasks that are irregular data-parallel jobs: `body(task, jobs)` is called once for each patch,
/// on a thread of the step, and declares jobs with their domains; the task has ended when they have.
/// Meanwhile the thread runs other tasks of the step. All tasks share the devices, and with them what is
/// known of their speed.
///
///   step.task("Rays::follow")
///       .reads(Old, temperature_)
///       .writes(power_)
///       .runs<jobs::StepJobs>(devices_, [=](const auto& task, jobs::StepJob& work) {
///         const Box box = task.interior();
///         auto& power = work.domain<double>("power", box.extent());
///         work.job("rays", box.extent()).writes(power).template runs<RayBody>(rayKernels(), ...);
///         work.atEnd([=, &power, out = task.write(power_)] { ... out(x) = power(x - box.lo) ... });
///       });
///
/// The task runs on the host and contributes to no reduction; which values its jobs touch, checked mode does
/// not see, but NaN that they leave is found all the same.
template <>
struct BodyAt<jobs::StepJobs> {
  template <class Body>
  static TaskBody make(std::shared_ptr<jobs::StepJobs> devices, const Body& body) {
    TaskBody made;
    made.begins = [devices = std::move(devices), body](const TaskFrame& frame) -> std::unique_ptr<BegunWork> {
      auto work = std::make_unique<detail::JobWork>(devices, frame);
      body(PatchTask<Cpu>(frame), work->jobs());
      work->begin();
      return work;
    };
    return made;
  }
};

}  // namespace tessera
