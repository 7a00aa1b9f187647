#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/device/memory/device_pager.hpp"

namespace tessera {

/// Work that is launched together, with what it touches in the memory of all devices of a rank: a fill reads
/// the values of neighbours on the devices that have them.
///
///   group.open();
///   while (more && group.take(usesIn)) ++work;            // nothing, or all that it touches on any device
///   group.makeResident({device, streams});
///   launch(...);
///   group.close({device, streams});
///
/// A device whose variables fit has no pager: what is touched there is always there.
/// Thread rule: one thread at a time for all of the devices.
class PagerGroup {
 public:
  /// By device; null where all fits. They outlive the group.
  explicit PagerGroup(std::vector<DevicePager*> pagers) : pagers_(std::move(pagers)) {}

  void open() {
    isEmpty_ = true;
    for (DevicePager* pager : pagers_) {
      if (pager != nullptr) pager->open();
    }
  }
  /// Whether the group, with work that touches `usesIn(n)` on device n, has room: an eighth of the limit of
  /// each, or all of it for the first work. Where it has not, the group is as before.
  template <class UsesIn>
  bool take(const UsesIn& usesIn) {
    const GroupRoom room = isEmpty_ ? GroupRoom::All : GroupRoom::Eighth;
    for (std::size_t n = 0; n < pagers_.size(); ++n) {
      const std::span<const PieceUse> uses = pagers_[n] != nullptr ? usesIn(n) : std::span<const PieceUse>();
      if (uses.empty() || pagers_[n]->take(uses, room)) continue;
      while (n-- > 0) {
        if (pagers_[n] != nullptr && !usesIn(n).empty()) pagers_[n]->undoTake();
      }
      return false;
    }
    isEmpty_ = false;
    return true;
  }
  /// Work put into these streams from now on finds on each device what it touches. Each keeps it until the
  /// group is closed, so it does not matter which comes first.
  void makeResident(const LaunchSite& site) {
    for (DevicePager* pager : pagers_) {
      if (pager != nullptr && pager->isTouched()) pager->makeResident(site);
    }
  }
  void close(const LaunchSite& site) {
    for (DevicePager* pager : pagers_) {
      if (pager != nullptr && pager->isTouched()) pager->close(site);
    }
  }

 private:
  std::vector<DevicePager*> pagers_;
  bool isEmpty_ = true;
};

}  // namespace tessera
