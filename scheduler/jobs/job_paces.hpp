#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/jobs/job_body.hpp"

namespace tessera::jobs {

/// A job on a device in one form.
struct PaceKey {
  std::string job;
  std::string device;
  JobForm form = JobForm::Regular;
  auto operator<=>(const PaceKey&) const = default;
};

/// How much was done, and how long the slots of the device were at it, one after the other.
struct Pace {
  double units = 0.0;
  double seconds = 0.0;
  double unitsPerSecond() const { return seconds > 0.0 ? units / seconds : 0.0; }
};

/// What is known of the speed of jobs on devices: measured in this run, and until then what earlier runs have
/// left. Sizes of tasks and the share of each device follow it.
class JobPaces {
 public:
  /// A task has ended.
  void add(const PaceKey& key, double units, double seconds);
  /// Of earlier runs.
  void keep(const PaceKey& key, const Pace& pace) { kept_[key] = pace; }

  /// Of one slot; 0: nothing is known.
  double unitsPerSecond(const PaceKey& key) const;
  /// The fastest form of earlier runs, where there is one.
  std::optional<JobForm> fastestKept(const std::string& job, const std::string& device) const;
  /// For later runs: this run's, with those of earlier ones at half their weight.
  std::map<PaceKey, Pace> all() const;

 private:
  std::map<PaceKey, Pace> measured_;
  std::map<PaceKey, Pace> kept_;
};

}  // namespace tessera::jobs
