#include "scheduler/step/fill_run.hpp"

#include <cstring>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/boundary_fill.hpp"
#include "datawarehouse/moves/coarse_fill.hpp"
#include "datawarehouse/moves/region_copy.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {
namespace {

/// Whether a row has more to do than to copy from this rank's patches.
bool hasRest(const FillPlan& fill, std::int32_t row, const HaloCopies::List& list) {
  return list.beyondDomain || !fill.pieces.row(row).empty() || !fill.coarse.row(row).empty();
}

}  // namespace

void FillRun::run(std::size_t number, std::int32_t row, std::int32_t local, double time) {
  const FillPlan& fill = graph_.fills[number];
  if (fill.scratch) return;  // done by the task that reads it
  if (fill.reach == Reach::WholeLevel) {
    // Where the patches share a window, that is what is read.
    if (fill.shared.size() == 0) gatherLevel(fill);
    return;
  }
  if (fill.shared.size() > 0) {
    if (const SharedGather* gather = shared_.workOf(number, row)) return runShared(fill, *gather, time);
    if (shared_.has(number, row)) return;
  }
  const HaloCopies::List& list = copies_.of(number, row);
  copyFromNeighbours(fill, row, list, memoryOf(fill, row, local));
  if (hasRest(fill, row, list)) fillRest(fill, row, list, destinationOf(fill, row, local), time);
}

void FillRun::gatherScratch(std::size_t number, std::int32_t row, std::int32_t local, double time,
                            std::byte* memory, const Layout& layout) {
  const FillPlan& fill = graph_.fills[number];
  const HaloCopies::List& list = copies_.of(number, row);
  list.own.run(memory, data_.data(fill.generation, fill.label, static_cast<std::size_t>(local)));
  copyFromNeighbours(fill, row, list, memory);
  if (hasRest(fill, row, list)) fillRest(fill, row, list, {memory, &layout, layout.window}, time);
}

void FillRun::listPrefetches(std::size_t number, std::int32_t row, std::int32_t local, std::int32_t step,
                             std::vector<PrefetchLines>& lines) const {
  const FillPlan& fill = graph_.fills[number];
  const std::span<const Neighbour> around = graph_.tables[static_cast<std::size_t>(fill.table)].row(row);
  const HaloCopies::List& list = copies_.of(number, row);
  list.prefetches.addTo(lines, [&](std::size_t n) -> const std::byte* {
    const std::int32_t source =
        n < list.from.size() ? around[static_cast<std::size_t>(list.from[n])].source : local;
    if (step * source < step * local) return nullptr;
    return data_.data(fill.generation, fill.label, static_cast<std::size_t>(source));
  });
}

void FillRun::copyFromNeighbours(const FillPlan& fill, std::int32_t row, const HaloCopies::List& list,
                                 std::byte* memory) const {
  const std::span<const Neighbour> around = graph_.tables[static_cast<std::size_t>(fill.table)].row(row);
  const StridedCopy* copy = list.copies.data();
  for (const std::int32_t n : list.from) {
    const auto source = static_cast<std::size_t>(around[static_cast<std::size_t>(n)].source);
    copy++->run(memory, data_.data(fill.generation, fill.label, source));
  }
}

void FillRun::fillRest(const FillPlan& fill, std::int32_t row, const HaloCopies::List& list,
                       const Destination& to, double time) {
  unpack(fill, row, to);
  fillUncovered(fill, row, to);
  if (list.beyondDomain) applyConditions(fill, to, time);
}

void FillRun::runShared(const FillPlan& fill, const SharedGather& gather, double time) {
  const std::vector<std::int32_t>& members = gather.shared->members;
  const auto first = static_cast<std::size_t>(members.front());
  Destination to{data_.data(fill.generation, fill.label, first), &data_.layout(fill.label, first),
                 gather.bounds};
  for (const SharedGather::Copy& copy : gather.copies) {
    const auto source = static_cast<std::size_t>(copy.source);
    copyRegion(to.data, *to.layout, data_.data(fill.generation, fill.label, source),
               data_.layout(fill.label, source), copy.region, copy.shift, info(fill).type.bytes());
  }
  for (const std::int32_t member : members) unpack(fill, member - gather.firstRow, to);
  for (const SharedGather::Coarse& coarse : gather.coarse)
    fillFromBelow(fill, *coarse.piece, coarse.region, to);
  for (const BoundaryPart& part : gather.conditions) {
    fillBoundary(to.data, *to.layout, info(fill), level(fill), part.side, part.region, time);
  }
}

void FillRun::unset(const FillPlan& fill, std::int32_t row) {
  if (fill.firstGather < 0) return;
  const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
  const std::int64_t bytes = data_.gatherLayout(plan_, buffer).elements() * info(fill).type.bytes();
  std::memset(data_.gatherData(plan_, buffer), 0xFF, static_cast<std::size_t>(bytes));
}

std::byte* FillRun::memoryOf(const FillPlan& fill, std::int32_t row, std::int32_t local) {
  if (fill.reach == Reach::Patch)
    return data_.data(fill.generation, fill.label, static_cast<std::size_t>(local));
  return data_.gatherData(plan_, static_cast<std::size_t>(fill.firstGather + row));
}

FillRun::Destination FillRun::destinationOf(const FillPlan& fill, std::int32_t row, std::int32_t local) {
  const Patch seen = seenPatch(data_.hierarchy(), ownPatch(local), fill.reach);
  const Layout& layout = fill.reach == Reach::Patch
                             ? data_.layout(fill.label, static_cast<std::size_t>(local))
                             : data_.gatherLayout(plan_, static_cast<std::size_t>(fill.firstGather + row));
  return {memoryOf(fill, row, local), &layout,
          fillTarget(level(fill), seen, info(fill).centering, fill.halo, fill.reach)};
}

void FillRun::gatherLevel(const FillPlan& fill) {
  const auto buffer = static_cast<std::size_t>(fill.firstGather);
  const Destination to{data_.gatherData(plan_, buffer), &data_.gatherLayout(plan_, buffer),
                       level(fill).domainOf(info(fill).centering)};
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(0)) {
    const auto source = static_cast<std::size_t>(n.source);
    const Box region = sourceRegion(level(fill), ownPatch(n.source), info(fill).centering, to.target, {});
    copyRegion(to.data, *to.layout, data_.data(fill.generation, fill.label, source),
               data_.layout(fill.label, source), region, {}, info(fill).type.bytes());
  }
  unpack(fill, 0, to);
  fillUncovered(fill, 0, to);
}

void FillRun::unpack(const FillPlan& fill, std::int32_t row, const Destination& to) {
  const std::int64_t bytes = info(fill).type.bytes();
  for (const FillPiece& piece : fill.pieces.row(row)) {
    const auto size = static_cast<std::size_t>(piece.region.volume() * bytes);
    unpackRegion(to.data, *to.layout, piece.region,
                 pump_.receiveBuffer(piece.message).subspan(static_cast<std::size_t>(piece.offset), size),
                 bytes);
  }
}

void FillRun::fillUncovered(const FillPlan& fill, std::int32_t row, const Destination& to) {
  for (const CoarsePiece& piece : fill.coarse.row(row)) fillFromBelow(fill, piece, piece.region, to);
}

void FillRun::fillFromBelow(const FillPlan& fill, const CoarsePiece& piece, const Box& region,
                            const Destination& to) {
  const std::int64_t bytes = info(fill).type.bytes();
  const Extent ratio = level(fill).ratioToCoarser();
  const Index shiftBy = shiftOf(level(fill), piece.image);
  if (piece.source >= 0) {
    const auto source = static_cast<std::size_t>(piece.source);
    fillFromCoarser(to.data, *to.layout, data_.data(fill.generation, fill.label, source),
                    data_.layout(fill.label, source), region, shiftBy, ratio, bytes);
    return;
  }
  // The message holds the coarse box, packed, so its layout is that box.
  const Box coarse = coarsen(shift(piece.region, Index{} - shiftBy), ratio);
  const std::byte* packed = pump_.receiveBuffer(piece.message).data() + piece.offset;
  fillFromCoarser(to.data, *to.layout, packed, Layout(coarse, false, false), region, shiftBy, ratio, bytes);
}

void FillRun::applyConditions(const FillPlan& fill, const Destination& to, double time) {
  const BoundaryParts found = boundaryParts(level(fill), info(fill).centering, to.target);
  for (int n = 0; n < found.count; ++n) {
    const BoundaryPart& part = found.parts[static_cast<std::size_t>(n)];
    fillBoundary(to.data, *to.layout, info(fill), level(fill), part.side, part.region, time);
  }
}

}  // namespace tessera::detail
