#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/jobs/job_body.hpp"

namespace tessera::jobs {

/// Who has said in which form the tasks of a job run on a device.
enum class FormSource : std::uint8_t {
  Declared,  ///< the job
  Measured,  ///< a calibration of this run
  Kept,      ///< paces of earlier runs
};

/// "declared", "measured", "earlier runs".
const char* sourceText(FormSource source);

/// The form of a job's tasks on one device, where the job leaves it open: the forms take turns until each has
/// run two short tasks; those that were at least half as fast as the fastest run one more task each, which is
/// wide enough for the device, and the fastest of these stays. Tasks of the calibration are part of the job:
/// none is run twice.
class FormChoice {
 public:
  static constexpr int kTasks = 2;  ///< short ones of each form

  FormChoice() = default;
  /// At least one form; of one alone there is nothing to measure.
  FormChoice(const std::vector<JobForm>& among, FormSource source);

  /// Of the task that is about to be handed out.
  JobForm next() const;
  void handedOut(JobForm form);
  /// A task has ended at this many units a second.
  void ended(JobForm form, double rate);
  /// The device cannot run it. False: no other form is left.
  bool exclude(JobForm form);

  bool isMade() const { return candidates_.size() <= 1; }
  /// Whether the next task is one of those that decide.
  bool isLastRound() const { return isLastRound_; }
  int candidates() const { return static_cast<int>(candidates_.size()); }
  FormSource source() const { return source_; }

 private:
  struct Candidate {
    JobForm form = JobForm::Regular;
    int handedOut = 0;
    int ended = 0;
    double rate = 0.0;  ///< of its fastest short task, then of the last one
  };
  /// nullptr: the form has lost, or is excluded.
  Candidate* find(JobForm form);
  bool haveEnded(int tasks) const;

  std::vector<Candidate> candidates_;
  bool isLastRound_ = false;
  FormSource source_ = FormSource::Declared;
};

}  // namespace tessera::jobs
