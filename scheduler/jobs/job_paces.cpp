#include "scheduler/jobs/job_paces.hpp"

namespace tessera::jobs {

void JobPaces::add(const PaceKey& key, double units, double seconds) {
  Pace& pace = measured_[key];
  pace.units += units;
  pace.seconds += seconds;
}

double JobPaces::unitsPerSecond(const PaceKey& key) const {
  for (const auto* paces : {&measured_, &kept_}) {
    const auto found = paces->find(key);
    if (found != paces->end() && found->second.seconds > 0.0) return found->second.unitsPerSecond();
  }
  return 0.0;
}

std::optional<JobForm> JobPaces::fastestKept(const std::string& job, const std::string& device) const {
  std::optional<JobForm> fastest;
  double most = 0.0;
  for (const auto& [key, pace] : kept_) {
    if (key.job != job || key.device != device || pace.unitsPerSecond() <= most) continue;
    most = pace.unitsPerSecond();
    fastest = key.form;
  }
  return fastest;
}

std::map<PaceKey, Pace> JobPaces::all() const {
  std::map<PaceKey, Pace> all = kept_;
  for (const auto& [key, pace] : measured_) {
    Pace& sum = all[key];
    sum = {0.5 * sum.units + pace.units, 0.5 * sum.seconds + pace.seconds};
  }
  return all;
}

}  // namespace tessera::jobs
