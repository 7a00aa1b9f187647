#include "scheduler/step/halo_copies.hpp"

#include <algorithm>

#include "scheduler/step/scratch_windows.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {
namespace {

std::uint64_t hashOf(const HaloCopies::List& list) {
  std::uint64_t hash = list.copies.size();
  const auto mix = [&](std::int64_t v) {
    hash = (hash ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  for (const StridedCopy& copy : list.copies) {
    for (const std::int64_t v : {copy.to.first, copy.from.first, copy.rowBytes, copy.rows}) mix(v);
  }
  for (const std::int32_t n : list.from) mix(n);
  return hash;
}

}  // namespace

HaloCopies::HaloCopies(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
                       const SharedGathers& shared)
    : graphs_(graphs), plan_(plan), data_(data), listOf_(graphs.plans[plan].fills.size()) {
  for (std::size_t fill = 0; fill < listOf_.size(); ++fill) lookAt(fill, shared);
  known_.clear();
}

void HaloCopies::lookAt(std::size_t number, const SharedGathers& shared) {
  const FillPlan& fill = graphs_.plans[plan_].fills[number];
  if (fill.reach == Reach::WholeLevel) return;
  const Range rows = graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)];
  // A stored halo may serve other tasks too.
  const bool facesOnly = fill.scratch && readsFacesOnly(static_cast<std::int32_t>(number));
  listOf_[number].reserve(static_cast<std::size_t>(rows.size()));
  for (std::int32_t row = 0; row < rows.size(); ++row) {
    listOf_[number].push_back(shared.has(number, row) ? kNone : numberOf(make(fill, row, facesOnly)));
  }
}

bool HaloCopies::readsFacesOnly(std::int32_t fill) const {
  const std::vector<UnitAccess>& accesses = graphs_.plans[plan_].accesses;
  return std::all_of(accesses.begin(), accesses.end(),
                     [fill](const UnitAccess& access) { return access.fill != fill || access.facesOnly; });
}

HaloCopies::List HaloCopies::make(const FillPlan& fill, std::int32_t row, bool facesOnly) const {
  const auto patchOf = [&](std::int64_t local) -> const Patch& {
    return graphs_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
  };
  const LabelInfo& info = graphs_.labels->info(fill.label);
  const Level& level = graphs_.hierarchy->level(fill.sourceLevel);
  const std::int64_t local = graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin + row;
  const Patch seen = seenPatch(*graphs_.hierarchy, patchOf(local), fill.reach);
  const Box target = fillTarget(level, seen, info.centering, fill.halo, fill.reach);
  const Layout to = layoutOfRow(fill, row, target);
  const Box inner = readBox(level, seen, info.centering, {});
  List list{{}, {}, boundaryParts(level, info.centering, target).count > 0, {}, {}};
  if (fill.scratch) {
    list.own = stridedCopy(to, data_.layout(fill.label, static_cast<std::size_t>(local)),
                           level.ownedBy(patchOf(local), info.centering), {}, info.type.bytes());
  }
  std::int32_t number = -1;
  for (const Neighbour& n : graphs_.plans[plan_].tables[static_cast<std::size_t>(fill.table)].row(row)) {
    ++number;
    const Index period{n.image[0], n.image[1], n.image[2]};
    const Box region = sourceRegion(level, patchOf(n.source), info.centering, target, period);
    if (facesOnly && axesOutside(region, inner) > 1) continue;
    const Layout& from = data_.layout(fill.label, static_cast<std::size_t>(n.source));
    list.from.push_back(number);
    list.copies.push_back(stridedCopy(to, from, region, shiftOf(level, period), info.type.bytes()));
  }
  return list;
}

Layout HaloCopies::layoutOfRow(const FillPlan& fill, std::int32_t row, const Box& target) const {
  const LabelInfo& info = graphs_.labels->info(fill.label);
  if (fill.reach != Reach::Patch)
    return data_.gatherLayout(plan_, static_cast<std::size_t>(fill.firstGather + row));
  const std::int64_t local = graphs_.localsOfLevel[static_cast<std::size_t>(fill.readerLevel)].begin + row;
  const Layout& stored = data_.layout(fill.label, static_cast<std::size_t>(local));
  if (!fill.scratch) return stored;
  const Patch& patch = graphs_.hierarchy->patch(graphs_.ownPatches[static_cast<std::size_t>(local)]);
  const Box owned = graphs_.hierarchy->level(fill.sourceLevel).ownedBy(patch, info.centering);
  return scratchLayout(*graphs_.hierarchy, target, owned, info.type.bytes()).layout;
}

std::int32_t HaloCopies::numberOf(List&& list) {
  const std::uint64_t hash = hashOf(list);
  const auto [first, last] = known_.equal_range(hash);
  for (auto k = first; k != last; ++k) {
    if (lists_[static_cast<std::size_t>(k->second)] == list) return k->second;
  }
  const auto number = static_cast<std::int32_t>(lists_.size());
  known_.emplace(hash, number);
  if (list.own.rowBytes > 0) {
    std::vector<StridedCopy> all = list.copies;
    all.push_back(list.own);
    list.prefetches = PrefetchList(all);
  }
  lists_.push_back(std::move(list));
  return number;
}

}  // namespace tessera::detail
