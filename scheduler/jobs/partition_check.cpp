#include "scheduler/jobs/partition_check.hpp"

#include <algorithm>

namespace tessera::jobs {
namespace {

struct WrittenBox {
  Box box;
  Box units;
};

[[noreturn]] void failOverlap(const Job& job, const DomainBase& domain, const WrittenBox& a,
                              const WrittenBox& b) {
  throw JobError(
      Message("the partition of the job " + job.name() + " lets two tasks write the same elements")
          .line("domain  ", domain.name())
          .line("writes  ", asText(a.box), " by the task of units ", asText(a.units))
          .line("writes  ", asText(b.box), " by the task of units ", asText(b.units))
          .line("fix     give each element of a written domain to one task; sums are for reduces()")
          .text());
}

[[noreturn]] void failGap(const Job& job, const DomainBase& domain, const std::vector<WrittenBox>& boxes) {
  std::vector<Box> left{domain.box()};
  for (const WrittenBox& each : boxes) left = subtract(left, each.box);
  throw JobError(Message("the partition of the job " + job.name() + " leaves elements that no task writes")
                     .line("domain  ", domain.name(), " ", asText(domain.box()))
                     .line("left    ", left.empty() ? "" : asText(left.front()))
                     .line("fix     let the parts of its tasks cover the domain")
                     .text());
}

/// A sweep along the axis that the boxes are sorted by: each is compared with those that have not ended.
void checkCover(const Job& job, const DomainBase& domain, std::vector<WrittenBox> boxes) {
  int axis = 2;
  while (axis > 0 && domain.box().extent()[axis] == 1) --axis;
  std::ranges::stable_sort(boxes,
                           [=](const auto& a, const auto& b) { return a.box.lo[axis] < b.box.lo[axis]; });
  std::int64_t covered = 0;
  std::vector<const WrittenBox*> open;
  for (const WrittenBox& each : boxes) {
    std::erase_if(open, [&](const WrittenBox* other) { return other->box.hi[axis] <= each.box.lo[axis]; });
    for (const WrittenBox* other : open) {
      if (!intersect(other->box, each.box).empty()) failOverlap(job, domain, *other, each);
    }
    if (!each.box.empty()) open.push_back(&each);
    covered += each.box.volume();
  }
  if (covered != domain.box().volume()) failGap(job, domain, boxes);
}

void checkInside(const Job& job, const Box& units, const DomainPart& part) {
  if (part.domain->box().contains(part.box) && (!part.box.empty() || part.isWritten())) return;
  throw JobError(
      Message("the partition of the job " + job.name() + " names a part that its domain does not have")
          .line("domain  ", part.domain->name(), " ", asText(part.domain->box()))
          .line("part    ", asText(part.box), " of the task of units ", asText(units))
          .line("fix     set boxes within the domain, with at least one element")
          .text());
}

}  // namespace

void checkPartition(const Job& job) {
  std::vector<std::vector<WrittenBox>> written(job.domains().size());
  // Where nothing is cut all pieces are alike.
  const std::int64_t pieces = job.isCut() ? job.pieces() : 1;
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const Box units = job.unitsOf(piece, piece + 1);
    const std::vector<DomainPart> parts = job.partsOf(units);
    for (std::size_t n = 0; n < parts.size(); ++n) {
      checkInside(job, units, parts[n]);
      if (parts[n].isWritten()) written[n].push_back({parts[n].box, units});
    }
  }
  for (std::size_t n = 0; n < written.size(); ++n) {
    if (job.domains()[n].isWritten()) checkCover(job, *job.domains()[n].domain, std::move(written[n]));
  }
}

void checkTask(const Job& job, const Box& units, std::int64_t firstPiece, std::int64_t endPiece,
               const std::vector<DomainPart>& parts) {
  for (const DomainPart& part : parts) checkInside(job, units, part);
  if (endPiece - firstPiece == 1 || !job.isCut()) return;
  std::vector<std::int64_t> volumes(parts.size(), 0);
  std::vector<Box> bounds(parts.size());
  for (std::int64_t piece = firstPiece; piece < endPiece; ++piece) {
    const std::vector<DomainPart> small = job.partsOf(job.unitsOf(piece, piece + 1));
    for (std::size_t n = 0; n < parts.size(); ++n) {
      if (!small[n].isWritten()) continue;
      volumes[n] += small[n].box.volume();
      bounds[n] = boundingBox(bounds[n], small[n].box);
    }
  }
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (!parts[n].isWritten()) continue;
    if (parts[n].box.volume() == volumes[n] && (parts[n].box == bounds[n] || volumes[n] == 0)) continue;
    throw JobError(
        Message("the partition of the job " + job.name() + " does not fit itself")
            .line("domain  ", parts[n].domain->name())
            .line("part    ", asText(parts[n].box), " for the units ", asText(units))
            .line("but     ", volumes[n], " elements within ", asText(bounds[n]), " for its pieces")
            .line("fix     write for a box of units what is written for its pieces, which is a box too")
            .text());
  }
}

}  // namespace tessera::jobs
