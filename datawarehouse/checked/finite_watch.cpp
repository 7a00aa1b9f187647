#include "datawarehouse/checked/finite_watch.hpp"

#include "datawarehouse/checked/finite_rows.hpp"

namespace tessera {

bool FiniteWatch::begins(const char* loop) {
  now_ = {};
  for (const FinalLoop& final : finalLoops_) {
    if (final.loop != loop) continue;
    for (const TaskAccess& access : accesses_) {
      if (access.label == final.label && isOutput(access.mode)) now_.add(numberOf(access));
    }
  }
  return now_.any();
}

void FiniteWatch::passed(const Box& part) {
  now_.forEach([&](std::size_t n) {
    const TaskAccess& access = accesses_[n];
    if (detail::mayHoldNonFinite(access, labels_->info(access.label), intersect(part, access.declared)))
      doubtful_.add(n);
  });
}

void FiniteWatch::finished(const Box& box) {
  now_.forEach([&](std::size_t n) {
    if (box.contains(accesses_[n].declared)) settled_.add(n);
  });
  now_ = {};
}

}  // namespace tessera
