#include "scheduler/detail/fill_run.hpp"

#include <cstring>

#include "datawarehouse/boundary_fill.hpp"
#include "datawarehouse/coarse_fill.hpp"
#include "datawarehouse/region_copy.hpp"
#include "grid/refine.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {

void FillRun::run(const FillPlan& fill, std::int32_t row, std::int32_t local, double time) {
  const Destination to = destinationOf(fill, row, local);
  copyFromNeighbours(fill, row, to);
  unpack(fill, row, to);
  fillUncovered(fill, row, to);
  applyConditions(fill, to, time);
}

void FillRun::unset(const FillPlan& fill, std::int32_t row) {
  if (fill.reach == Reach::Patch) return;
  const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
  const std::int64_t bytes = data_.gatherLayout(plan_, buffer).elements() * info(fill).type.bytes();
  std::memset(data_.gatherData(plan_, buffer), 0xFF, static_cast<std::size_t>(bytes));
}

FillRun::Destination FillRun::destinationOf(const FillPlan& fill, std::int32_t row, std::int32_t local) {
  if (fill.reach == Reach::WholeLevel) {
    const auto buffer = static_cast<std::size_t>(fill.firstGather);
    return {data_.gatherData(plan_, buffer), &data_.gatherLayout(plan_, buffer),
            level(fill).domainOf(info(fill).centering)};
  }
  const Patch seen = seenPatch(data_.hierarchy(), ownPatch(local), fill.reach);
  const Box target = fillTarget(level(fill), seen, info(fill).centering, fill.halo, fill.reach);
  if (fill.reach == Reach::Patch) {
    const auto own = static_cast<std::size_t>(local);
    return {data_.data(fill.generation, fill.label, own), &data_.layout(fill.label, own), target};
  }
  const auto buffer = static_cast<std::size_t>(fill.firstGather + row);
  return {data_.gatherData(plan_, buffer), &data_.gatherLayout(plan_, buffer), target};
}

void FillRun::copyFromNeighbours(const FillPlan& fill, std::int32_t row, const Destination& to) {
  const std::int64_t bytes = info(fill).type.bytes();
  for (const Neighbour& n : graph_.tables[static_cast<std::size_t>(fill.table)].row(row)) {
    const auto source = static_cast<std::size_t>(n.source);
    const Index period{n.image[0], n.image[1], n.image[2]};
    const Box region = sourceRegion(level(fill), ownPatch(n.source), info(fill).centering, to.target, period);
    copyRegion(to.data, *to.layout, data_.data(fill.generation, fill.label, source),
               data_.layout(fill.label, source), region, shiftOf(level(fill), period), bytes);
  }
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
  const std::int64_t bytes = info(fill).type.bytes();
  const Extent ratio = level(fill).ratioToCoarser();
  for (const CoarsePiece& piece : fill.coarse.row(row)) {
    const Index shiftBy = shiftOf(level(fill), piece.image);
    if (piece.source >= 0) {
      const auto source = static_cast<std::size_t>(piece.source);
      fillFromCoarser(to.data, *to.layout, data_.data(fill.generation, fill.label, source),
                      data_.layout(fill.label, source), piece.region, shiftBy, ratio, bytes);
      continue;
    }
    // The message holds the coarse box, packed, so its layout is that box.
    const Box coarse = coarsen(shift(piece.region, Index{} - shiftBy), ratio);
    const std::byte* packed = pump_.receiveBuffer(piece.message).data() + piece.offset;
    fillFromCoarser(to.data, *to.layout, packed, Layout(coarse, false, false), piece.region, shiftBy, ratio,
                    bytes);
  }
}

void FillRun::applyConditions(const FillPlan& fill, const Destination& to, double time) {
  if (fill.reach == Reach::WholeLevel) return;
  const BoundaryParts found = boundaryParts(level(fill), info(fill).centering, to.target);
  for (int n = 0; n < found.count; ++n) {
    const BoundaryPart& part = found.parts[static_cast<std::size_t>(n)];
    fillBoundary(to.data, *to.layout, info(fill), level(fill), part.side, part.region, time);
  }
}

}  // namespace tessera::detail
