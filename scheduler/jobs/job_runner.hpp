#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/jobs/detail/task_sizes.hpp"
#include "scheduler/jobs/form_choice.hpp"
#include "scheduler/jobs/job_clock.hpp"
#include "scheduler/jobs/job_device.hpp"
#include "scheduler/jobs/job_paces.hpp"

namespace tessera::jobs {

/// What a job has done, by device in the order of the runner's.
struct JobReport {
  struct Share {
    std::string device;
    std::int64_t tasks = 0;
    std::int64_t units = 0;
    CopyCounts copies;
    JobForm form = JobForm::Regular;  ///< of its last task
    FormSource source = FormSource::Declared;
  };
  std::vector<Share> shares;
  std::int64_t units = 0;   ///< of the execution space, ended
  std::int64_t pushed = 0;  ///< by bodies
  std::int64_t calls = 0;
  std::int64_t shared = 0;  ///< units that went from one block of a task to another
  double seconds = 0.0;
};

/// A task on a device, by `secondsNow`: where threads of the host run it, while one of them was at it,
/// otherwise from the moment at which it was handed out until its end was seen.
struct TaskSpan {
  std::size_t device = 0;
  JobForm form = JobForm::Regular;
  std::int64_t units = 0;
  double begin = 0.0;
  double end = 0.0;
};

/// A job from the hand-out of its first task to the merge of its sums.
struct JobSpan {
  std::string job;
  double begin = 0.0;
  double end = 0.0;
  std::vector<TaskSpan> tasks;
};

/// Runs jobs on a list of devices. Tasks are handed out by demand: a device that has room asks for one, which
/// is the smaller the less is left and the slower the device has been (guided sizes). Jobs that share a
/// domain that one of them changes run in the order in which they were added; others run at the same time.
/// One thread.
///
///   JobRunner runner(std::move(devices));
///   runner.add(job);
///   runner.run();
class JobRunner {
 public:
  /// At least one device. The clock outlives the runner.
  explicit JobRunner(std::vector<std::unique_ptr<JobDevice>> devices, JobClock& clock = JobClock::steady());
  ~JobRunner();

  /// Checks the partition of the job, which stays as it is until it has ended. Throws JobError. Returns its
  /// number.
  std::size_t add(const Job& job);
  /// Hands out what there is room for and takes what has ended, without waiting. True: all jobs have ended.
  /// Throws JobError where a task ran into a limit or finds no memory on an idle device.
  bool proceed();
  /// As `proceed`, for one of jobs that do not know each other: goes on with all, and throws the error of
  /// this one alone. True: it has ended.
  bool proceed(std::size_t job);
  /// `proceed` until all jobs have ended; `show(units done, units)` about once a second.
  void run(const std::function<void(std::int64_t, std::int64_t)>& show = {});

  const JobReport& report(std::size_t job) const { return jobs_.at(job).report; }
  /// The job has ended, and its report is wanted no more.
  void forget(std::size_t job);
  /// No job uses the domain any more, and it is about to go: so do copies of it.
  void forget(const DomainBase& domain);
  /// Drops these jobs with all copies of their domains, once what devices are at for them has ended. No other
  /// job uses these domains.
  void giveUp(std::span<const std::size_t> jobs);

  const std::vector<std::unique_ptr<JobDevice>>& devices() const { return devices_; }
  JobPaces& paces() { return paces_; }
  /// From here on jobs are noted for `takeSpans`.
  void noteSpans() { notesSpans_ = true; }
  /// Of the jobs that have ended since the last call.
  std::vector<JobSpan> takeSpans() { return std::exchange(spans_, {}); }

 private:
  /// What is known of a job, by its name, on a device.
  struct Habit {
    FormChoice form;
    std::int64_t mostPieces = 1LL << 60;  ///< that the memory of the device takes
    double unitsPerSecond = 0.0;          ///< of the last task, while it ran
    Pace recent;                          ///< of a slot, of its last tasks in the chosen form
  };
  struct Open {
    const Job* job = nullptr;
    std::vector<Habit*> habits;  ///< by device, once it has begun
    std::vector<std::uint64_t> versions;
    std::vector<std::uint64_t> nextVersions;
    std::int64_t nextPiece = 0;
    int inFlight = 0;
    bool hasBegun = false;
    bool hasEnded = false;
    std::exception_ptr failure;  ///< no more tasks of it are handed out
    double begun = 0.0;
    JobReport report;
    std::vector<CopyCounts> copiesBefore;
    std::vector<TaskSpan> tasks;
  };
  struct Slot {
    bool isBusy = false;
    std::size_t job = 0;
    JobForm form = JobForm::Regular;
    std::int64_t firstPiece = 0;
    std::int64_t endPiece = 0;
    std::int64_t units = 0;
    double begun = 0.0;
  };

  bool conflicts(const Job& a, const Job& b) const;
  bool isReady(std::size_t number, const Open& open) const;
  void begin(Open& open);
  void end(Open& open);
  /// Hands out and takes; what fails is left with its job. True: all jobs have ended.
  bool goOn();
  void deal(std::size_t device, int slot);
  bool deal(std::size_t device, int slot, std::size_t number, Open& open);
  bool start(std::size_t device, int slot, std::size_t number, JobForm form, std::int64_t pieces);
  std::vector<detail::DeviceDemand> demandsOf(const Open& open) const;
  detail::JobDemand demandOf(const Open& open) const;
  Habit& habit(const Job& job, std::size_t device);
  void take(std::size_t device, int slot, const TaskEnd& end);
  [[noreturn]] void fail(const Job& job, const Box& units, JobForm form, TaskFault fault) const;
  [[noreturn]] void failMemory(const Open& open, std::size_t device) const;

  std::vector<std::unique_ptr<JobDevice>> devices_;
  JobClock& clock_;
  std::vector<std::vector<Slot>> slots_;  ///< by device
  std::map<std::size_t, Open> jobs_;      ///< by number
  std::size_t nextJob_ = 0;
  std::map<std::pair<std::string, std::size_t>, Habit> habits_;  ///< by name of the job and device
  JobPaces paces_;
  bool gotOn_ = false;  ///< a task has ended in the last call of `goOn`
  bool notesSpans_ = false;
  std::vector<JobSpan> spans_;
};

}  // namespace tessera::jobs
