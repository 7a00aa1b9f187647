#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/jobs/job_device.hpp"

namespace tessera::jobs {

/// What a job has done, by device in the order of the runner's.
struct JobReport {
  struct Share {
    std::string device;
    std::int64_t tasks = 0;
    std::int64_t units = 0;
    CopyCounts copies;
  };
  std::vector<Share> shares;
  std::int64_t units = 0;   ///< of the execution space, ended
  std::int64_t pushed = 0;  ///< by bodies
  std::int64_t calls = 0;
  std::int64_t shared = 0;  ///< units that went from one block of a task to another
  double seconds = 0.0;
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
  /// At least one device.
  explicit JobRunner(std::vector<std::unique_ptr<JobDevice>> devices);
  ~JobRunner();

  /// Checks the partition of the job, which stays as it is until it has ended. Throws JobError. Returns its
  /// number.
  std::size_t add(const Job& job);
  /// Hands out what there is room for and takes what has ended, without waiting. True: all jobs have ended.
  /// Throws JobError where a task ran into a limit or finds no memory on an idle device.
  bool proceed();
  /// `proceed` until all jobs have ended; `show(units done, units)` about once a second.
  void run(const std::function<void(std::int64_t, std::int64_t)>& show = {});

  const JobReport& report(std::size_t job) const { return jobs_.at(job).report; }

 private:
  struct Open {
    const Job* job = nullptr;
    std::vector<std::uint64_t> versions;
    std::vector<std::uint64_t> nextVersions;
    std::int64_t nextPiece = 0;
    int inFlight = 0;
    bool hasBegun = false;
    bool hasEnded = false;
    double begun = 0.0;
    JobReport report;
    std::vector<CopyCounts> copiesBefore;
  };
  struct Slot {
    bool isBusy = false;
    std::size_t job = 0;
    std::int64_t firstPiece = 0;
    std::int64_t endPiece = 0;
    std::int64_t units = 0;
    double begun = 0.0;
  };
  /// What a device has done of a job so far.
  struct Pace {
    double pieces = 0.0;
    double seconds = 0.0;                 ///< of its slots together
    std::int64_t mostPieces = 1LL << 60;  ///< that its memory takes
  };

  bool conflicts(const Job& a, const Job& b) const;
  bool isReady(std::size_t job) const;
  void begin(Open& open);
  void end(std::size_t job);
  bool deal(std::size_t device, int slot);
  bool start(std::size_t device, int slot, std::size_t job, std::int64_t pieces);
  std::int64_t share(std::size_t device, std::size_t job);
  void take(std::size_t device, int slot, const TaskEnd& end);
  [[noreturn]] void fail(const Job& job, const Box& units, TaskFault fault) const;

  std::vector<std::unique_ptr<JobDevice>> devices_;
  std::vector<std::vector<Slot>> slots_;  ///< by device
  std::vector<Open> jobs_;
  std::map<std::pair<std::string, std::size_t>, Pace> paces_;  ///< by name of the job and device
};

}  // namespace tessera::jobs
