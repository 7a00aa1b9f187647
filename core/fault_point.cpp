#include "core/fault_point.hpp"

#include <unistd.h>
#include <utility>

namespace tessera {

FaultPlan& FaultPlan::add(Fault fault) {
  const std::lock_guard lock(mutex_);
  planned_.push_back({std::move(fault), 0});
  return *this;
}

FaultPlan::Outcome FaultPlan::hit(std::string_view point) {
  Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    ++hits_;
    for (Planned& p : planned_) {
      if (!p.fault.point.empty() && p.fault.point != point) continue;
      if (++p.seen == p.fault.occurrence) outcome = {p.fault.effect, p.fault.error};
    }
  }
  if (outcome.effect == FaultEffect::Exit) ::_exit(outcome.error);
  if (outcome.effect == FaultEffect::Throw) throw FaultInjected(point);
  return outcome;
}

std::int64_t FaultPlan::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}

}  // namespace tessera
