#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "scheduler/jobs/job_runner.hpp"

namespace tessera::jobs {

/// Devices that jobs of many threads share: each thread adds its own and asks for it. What one of them
/// begins, the others go on with.
class StepJobs {
 public:
  explicit StepJobs(std::vector<std::unique_ptr<JobDevice>> devices) : runner_(std::move(devices)) {}

  /// The job stays as it is until it has ended, or `giveUp`. Throws JobError. Returns its number.
  std::size_t add(const Job& job);
  /// Goes on with all jobs without waiting. True: this one has ended. Throws JobError, of this one alone.
  bool proceed(std::size_t job);
  /// As JobRunner.
  void forget(std::size_t job);
  void forget(const DomainBase& domain);
  /// Drops these jobs, once devices have left their domains.
  void giveUp(std::span<const std::size_t> jobs);
  /// "120 units done".
  std::string text(std::size_t job);

 private:
  std::mutex mutex_;
  JobRunner runner_;
};

/// The job of one task of a step on one patch: it, and domains that live as long.
class StepJob {
 public:
  /// A domain of its own; the reference is good until the task has ended.
  template <class T>
  Domain<T>& domain(const std::string& name, Extent extent) {
    return keep(std::make_shared<Domain<T>>(name, extent));
  }
  /// Sums of its own, as `domain`.
  Sums& sums(const std::string& name, Extent extent, double resolution) {
    return keep(std::make_shared<Sums>(name, extent, resolution));
  }
  /// The job, to be declared; several run one after the other where they share a domain.
  Job& job(const std::string& name, Extent space) { return jobs_.emplace_back(name, space); }
  /// Called when all jobs have ended: puts what they have left into the variables of the task.
  void atEnd(std::function<void()> work) { atEnd_ = std::move(work); }

  const std::deque<Job>& jobs() const { return jobs_; }
  const std::vector<std::shared_ptr<DomainBase>>& domains() const { return domains_; }
  void end() const {
    if (atEnd_) atEnd_();
  }

 private:
  template <class Kept>
  Kept& keep(const std::shared_ptr<Kept>& made) {
    domains_.push_back(made);
    return *made;
  }

  std::vector<std::shared_ptr<DomainBase>> domains_;
  std::deque<Job> jobs_;
  std::function<void()> atEnd_;
};

}  // namespace tessera::jobs
