#include "scheduler/jobs/job.hpp"

#include <algorithm>
#include <bit>

#include "core/text/contracts.hpp"

namespace tessera::jobs {

const char* formText(JobForm form) {
  constexpr const char* kTexts[] = {"regular", "consumer", "consumer-producer", "wavefront"};
  return kTexts[static_cast<std::size_t>(form)];
}

void PartList::set(const DomainBase& domain, const Box& box) {
  const auto part =
      std::ranges::find_if(parts_, [&](const DomainPart& each) { return each.domain == &domain; });
  TESSERA_EXPECT(part != parts_.end(), "set parts of domains that the job reads, writes or reduces into");
  part->box = box;
}

const PlacedPart& TaskData::at(const DomainBase& domain) const {
  const auto part =
      std::ranges::find_if(parts_, [&](const PlacedPart& each) { return each.domain == &domain; });
  TESSERA_EXPECT(part != parts_.end(), "ask for domains that the job reads, writes or reduces into");
  return *part;
}

Job::Job(std::string name, Extent space) : name_(std::move(name)), space_{{0, 0, 0}, space} {
  if (space_.empty()) {
    throw JobError(Message("the job " + name_ + " has no units")
                       .line("execution space  ", asText(space))
                       .line("fix              give each axis at least one index")
                       .text());
  }
  for (int axis = 0; axis < kAxes; ++axis) {
    if (space[axis] > 1) axis_ = axis;
  }
}

Job& Job::add(DomainBase& domain, JobAccess access, double scale) {
  for (const DomainPart& each : domains_) {
    if (each.domain != &domain) continue;
    throw JobError(Message("the job " + name_ + " declares the domain " + domain.name() + " twice")
                       .line("fix  declare it once; readsAndWrites is for tasks that read what they write")
                       .text());
  }
  domains_.push_back({&domain, access, domain.box(), scale});
  return *this;
}

Job& Job::reads(const DomainBase& domain) {
  return add(const_cast<DomainBase&>(domain), JobAccess::Read, 1.0);
}
Job& Job::writes(DomainBase& domain) { return add(domain, JobAccess::Write, 1.0); }
Job& Job::readsAndWrites(DomainBase& domain) { return add(domain, JobAccess::ReadWrite, 1.0); }
Job& Job::reduces(Sums& sums) { return add(sums, JobAccess::Reduce, 1.0 / sums.resolution()); }

Job& Job::cutAlong(int axis, std::int64_t grain) {
  TESSERA_EXPECT(axis >= 0 && axis < kAxes && grain > 0, "cut along axis 0, 1 or 2 in pieces of at least 1");
  axis_ = axis;
  grain_ = grain;
  return *this;
}

Job& Job::partition(std::function<void(const Box&, PartList&)> callback) {
  callback_ = std::move(callback);
  return *this;
}

Job& Job::form(JobForm form) {
  forms_ = {form};
  return *this;
}

Job& Job::fastestOf(std::vector<JobForm> forms) {
  TESSERA_EXPECT(!forms.empty(), "name the forms that may be chosen");
  forms_ = std::move(forms);
  return *this;
}

Job& Job::limits(const JobLimits& limits) {
  if (limits.queue < 2 || !std::has_single_bit(static_cast<std::uint64_t>(limits.queue)) ||
      limits.pushed < 0 || limits.calls < 1) {
    throw JobError(Message("the job " + name_ + " has limits that no task can keep")
                       .line("limits  ", limits.pushed, " units pushed, a queue of ", limits.queue, ", ",
                             limits.calls, " calls for one unit")
                       .line("fix     the queue is a power of two from 2 on, calls are at least 1")
                       .text());
  }
  limits_ = limits;
  return *this;
}

Job& Job::callsInARow(std::int32_t calls) {
  TESSERA_EXPECT(calls > 0, "call a body at least once in a row");
  callsInARow_ = calls;
  return *this;
}

Job& Job::setKernels(const JobKernels& kernels, std::size_t bodyBytes) {
  TESSERA_EXPECT(kernels.bodyBytes == static_cast<std::int64_t>(bodyBytes),
                 "give a job the kernels of its own body");
  kernels_ = &kernels;
  if (forms_.empty()) forms_ = {kernels.pushes > 0 ? JobForm::ConsumerProducer : JobForm::Consumer};
  return *this;
}

std::int64_t Job::pieces() const { return (space_.extent()[axis_] + grain_ - 1) / grain_; }

Box Job::unitsOf(std::int64_t firstPiece, std::int64_t endPiece) const {
  Box units = space_;
  units.lo[axis_] = space_.lo[axis_] + firstPiece * grain_;
  units.hi[axis_] = std::min(space_.hi[axis_], space_.lo[axis_] + endPiece * grain_);
  return units;
}

bool Job::isCut() const {
  return callback_ != nullptr || std::ranges::any_of(domains_, &DomainPart::isWritten);
}

std::vector<DomainPart> Job::partsOf(const Box& units) const {
  std::vector<DomainPart> parts = domains_;
  for (DomainPart& part : parts) {
    if (part.isWritten() && part.domain->box() == space_) part.box = units;
  }
  if (!callback_) return parts;
  PartList list(std::move(parts));
  callback_(units, list);
  return list.parts();
}

}  // namespace tessera::jobs
