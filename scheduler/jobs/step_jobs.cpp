#include "scheduler/jobs/step_jobs.hpp"

namespace tessera::jobs {

std::size_t StepJobs::add(const Job& job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return runner_.add(job);
}

bool StepJobs::proceed(std::size_t job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return runner_.proceed(job);
}

void StepJobs::forget(std::size_t job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  runner_.forget(job);
}

void StepJobs::forget(const DomainBase& domain) {
  const std::lock_guard<std::mutex> lock(mutex_);
  runner_.forget(domain);
}

void StepJobs::giveUp(std::span<const std::size_t> jobs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  runner_.giveUp(jobs);
}

std::string StepJobs::text(std::size_t job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const JobReport& report = runner_.report(job);
  return std::to_string(report.units) + " units done";
}

}  // namespace tessera::jobs
