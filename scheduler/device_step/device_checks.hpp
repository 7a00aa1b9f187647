#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/device_loops.hpp"
#include "datawarehouse/task_frame.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "scheduler/device_step/kernel_error_board.hpp"
#include "scheduler/step_inputs.hpp"

namespace tessera::detail {

/// What was found out about a task of a device.
struct TaskError {
  std::int32_t task = -1;  ///< of the lane
  std::size_t access = 0;
  KernelError what = KernelError::Outside;
  FoundAt at;
  StepMoment moment;
};

/// Throws what the host says where it finds the same in a task of its own.
[[noreturn]] void reportFinding(const TaskFrame& frame, const TaskError& finding);

/// What a task of a lane can have checked.
struct CheckedTask {
  std::size_t accesses = 0;
  std::int64_t marks = 0;  ///< bytes: an index each of all that it writes
};

/// Looks after the tasks of one plan on one device: the search for numbers that are not finite in what they
/// leave, and in checked mode their accesses. What kernels find they write into words in memory of the
/// device; a word of pinned memory says that there is something. So a step costs the loops of the checks
/// themselves, and no round trip; a finding comes to light when the host next looks, up to
/// `LaneOptions::stepsAhead` steps later, and names the step that it was made in.
///
/// Several steps can be under way on the device: each has words of its own, used again when the lane has
/// waited for that step. Thread rule: whoever is inside the lane, but for `raised`.
class DeviceChecks {
 public:
  struct Mode {
    bool accesses = false;   ///< checked mode
    bool nonFinite = false;  ///< the search
    bool replays = false;    ///< what was recorded runs again in later steps, which then share their words
    bool any() const { return accesses || nonFinite; }
  };

  /// `report` throws what is to be said about a finding. Lane and board, of one device, outlive the object.
  DeviceChecks(DeviceLane& lane, KernelErrorBoard& board, Mode mode,
               std::function<void(const TaskError&)> report);
  ~DeviceChecks();
  DeviceChecks(const DeviceChecks&) = delete;
  DeviceChecks& operator=(const DeviceChecks&) = delete;

  const Mode& mode() const { return mode_; }
  /// Once: takes the memory. Throws DeviceError.
  void layOut(std::span<const CheckedTask> tasks);
  /// Before tasks are launched.
  void beginStep(const StepMoment& moment);
  /// Tells the accesses of a task where findings go.
  void equip(std::int32_t task, const TaskFrame& frame, std::span<TaskAccess> accesses) const;
  /// Loops before the body of a task, of a frame that is equipped, and behind it.
  void recordBefore(std::int32_t task, const TaskFrame& frame, DeviceLoops& loops);
  void recordAfter(const TaskFrame& frame, DeviceLoops& loops) const;

  /// A finding and its place in the order in which tasks were launched.
  struct Candidate {
    std::int64_t step = 0;
    std::int64_t launched = 0;
    TaskError finding;
    const DeviceChecks* whose = nullptr;
    bool comesBefore(const Candidate& other) const;
  };

  /// Whether this device has found something, in a task of any plan. Any thread, at any time.
  bool isRaised() const { return board_.isRaised(); }
  /// What it found first, of all plans. Not inside the lane, which it waits for.
  std::optional<Candidate> earliest() const;
  /// Throws what is to be said about a finding.
  void report(const TaskError& finding) const { report_(finding); }

 private:
  std::optional<Candidate> first(DeviceStream stream) const;
  /// What word number `n` says.
  Candidate candidate(std::int64_t n, std::int64_t word) const;
  /// In the running step.
  std::int64_t* wordsOf(std::int32_t task) const;
  std::int64_t stepCount() const { return std::ssize(moments_); }

  DeviceLane& lane_;
  KernelErrorBoard& board_;
  DeviceBackend& backend_;
  Mode mode_;
  std::function<void(const TaskError&)> report_;
  std::vector<std::int64_t> firstAccess_;  ///< by task, and one more
  std::vector<std::int64_t> firstMark_;    ///< by task
  std::int64_t* words_ = nullptr;          ///< on the device: by step, task, access and KernelError
  std::uint8_t* marks_ = nullptr;          ///< on the device
  std::vector<std::int64_t> launched_;     ///< by task: when last, in order
  std::vector<StepMoment> moments_;        ///< of the steps that can be under way
  std::vector<std::int64_t> steps_;        ///< their numbers; -1: none yet
  std::int64_t runs_ = 0;                  ///< of the plan
};

}  // namespace tessera::detail
