#include "datawarehouse/checked/finite_watch.hpp"

#include <bit>

#include "datawarehouse/checked/finite_rows.hpp"

namespace tessera {

bool FiniteWatch::begins(const char* loop) {
  now_ = 0;
  for (const FinalLoop& final : finalLoops_) {
    if (final.loop != loop) continue;
    for (const TaskAccess& access : accesses_) {
      if (access.label == final.label && isOutput(access.mode)) now_ |= bitOf(access);
    }
  }
  return now_ != 0;
}

void FiniteWatch::passed(const Box& part) {
  for (std::uint64_t left = now_; left != 0; left &= left - 1) {
    const TaskAccess& access = accesses_[static_cast<std::size_t>(std::countr_zero(left))];
    if (detail::mayHoldNonFinite(access, labels_->info(access.label), intersect(part, access.declared)))
      doubtful_ |= bitOf(access);
  }
}

void FiniteWatch::finished(const Box& box) {
  for (std::uint64_t left = now_; left != 0; left &= left - 1) {
    const TaskAccess& access = accesses_[static_cast<std::size_t>(std::countr_zero(left))];
    if (box.contains(access.declared)) settled_ |= bitOf(access);
  }
  now_ = 0;
}

}  // namespace tessera
