#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "scheduler/jobs/array.hpp"
#include "scheduler/jobs/domain.hpp"
#include "scheduler/jobs/job_kernels.hpp"

namespace tessera::jobs {

/// Every mistake of a job: a partition that does not fit, a body that never ends, a device without memory
/// for one task. The program ends with exit code 2.
struct JobError : ErrorClass<JobError> {
  explicit JobError(std::string text) : ErrorClass(ErrorKind::Usage, std::move(text)) {}
};

/// What a job does with a domain.
enum class JobAccess : std::uint8_t { Read, Write, ReadWrite, Reduce };

/// A domain of a job, and what of it a task touches.
struct DomainPart {
  DomainBase* domain = nullptr;
  JobAccess access = JobAccess::Read;
  Box box;
  double scale = 1.0;  ///< of sums: one over their resolution

  bool isRead() const { return access == JobAccess::Read || access == JobAccess::ReadWrite; }
  bool isWritten() const { return access == JobAccess::Write || access == JobAccess::ReadWrite; }
};

/// What a partition callback fills in: which part of each domain the units of one task touch.
class PartList {
 public:
  explicit PartList(std::vector<DomainPart> parts) : parts_(std::move(parts)) {}
  /// Throws InternalError for a domain that the job does not declare.
  void set(const DomainBase& domain, const Box& box);
  const std::vector<DomainPart>& parts() const { return parts_; }

 private:
  std::vector<DomainPart> parts_;
};

/// Where the part of a domain lies for one task.
struct PlacedPart {
  const DomainBase* domain = nullptr;
  std::byte* first = nullptr;
  Index lo;
  std::int64_t strideJ = 0;
  std::int64_t strideK = 0;
  double scale = 1.0;
};

/// Views of a task's parts, from which its body is made.
class TaskData {
 public:
  TaskData(std::span<const PlacedPart> parts, const Box& units) : parts_(parts), units_(units) {}

  template <class T>
  Array<const T> read(const Domain<T>& domain) const {
    const PlacedPart& part = at(domain);
    return {reinterpret_cast<const T*>(part.first), part.lo, part.strideJ, part.strideK};
  }
  template <class T>
  Array<T> write(const Domain<T>& domain) const {
    const PlacedPart& part = at(domain);
    return {reinterpret_cast<T*>(part.first), part.lo, part.strideJ, part.strideK};
  }
  SumArray sums(const Sums& sums) const {
    const PlacedPart& part = at(sums);
    return {{reinterpret_cast<std::int64_t*>(part.first), part.lo, part.strideJ, part.strideK}, part.scale};
  }
  const Box& units() const { return units_; }  ///< of the task

 private:
  const PlacedPart& at(const DomainBase& domain) const;

  std::span<const PlacedPart> parts_;
  Box units_;
};

/// A data-parallel job whose work per unit is not known before: domains, an execution space of basic work
/// units, a body for one of them, and how the space is cut into tasks. A plain declaration; a JobRunner runs
/// it, and it outlives that.
///
///   Job job("multiply", {n, n, 1});
///   job.reads(a).reads(b).writes(c).cutAlong(1, 8)
///      .partition([&](const Box& units, PartList& parts) { parts.set(a, rowsOf(units)); })
///      .runs<Multiply>(multiplyKernels(), [&](const TaskData& task) {
///        return Multiply{task.read(a), task.read(b), task.write(c), n};
///      });
class Job {
 public:
  /// Throws JobError where the space has no units.
  Job(std::string name, Extent space);

  Job& reads(const DomainBase& domain);
  Job& writes(DomainBase& domain);
  Job& readsAndWrites(DomainBase& domain);
  Job& reduces(Sums& sums);

  /// Tasks are slabs of the execution space across `axis`, each a whole number of pieces of `grain` indices
  /// (the last may be smaller) [the last axis with more than one index, 1].
  Job& cutAlong(int axis, std::int64_t grain);
  /// What of each domain the units of a box touch. Without it, and for domains that it does not set: written
  /// domains of the same extent as the space like the units, all others whole.
  Job& partition(std::function<void(const Box& units, PartList& parts)> callback);
  /// [Consumer, and ConsumerProducer where the body pushes units]
  Job& form(JobForm form);
  /// The runner measures which of these forms is the fastest on each device, with the first tasks of the job.
  /// Where units are pushed, the forms Regular and Consumer have room for 64 of them a thread.
  Job& fastestOf(std::vector<JobForm> forms);
  Job& limits(const JobLimits& limits);
  /// Calls in a row before a unit goes back to a queue [8].
  Job& callsInARow(std::int32_t calls);

  /// `make` gives the body of a task; it is called by the runner's thread, and copies of domains are where
  /// its views point to.
  template <JobBody Body, class Make>
  Job& runs(const JobKernels& kernels, Make make) {
    makeBody_ = [make = std::move(make)](const TaskData& task, void* to) {
      const Body body = make(task);
      std::memcpy(to, static_cast<const void*>(&body), sizeof(Body));
    };
    return setKernels(kernels, sizeof(Body));
  }

  const std::string& name() const { return name_; }
  const Box& space() const { return space_; }
  int axis() const { return axis_; }
  std::int64_t pieces() const;  ///< the smallest tasks
  Box unitsOf(std::int64_t firstPiece, std::int64_t endPiece) const;
  std::vector<DomainPart> partsOf(const Box& units) const;
  const std::vector<DomainPart>& domains() const { return domains_; }
  /// Whether tasks may have different parts of domains: there is a partition, or a domain is written.
  bool isCut() const;
  /// Those that the job leaves open; one alone is declared.
  const std::vector<JobForm>& forms() const { return forms_; }
  const JobLimits& limits() const { return limits_; }
  std::int32_t callsInARow() const { return callsInARow_; }
  const JobKernels& kernels() const { return *kernels_; }
  void makeBody(const TaskData& task, void* to) const { makeBody_(task, to); }
  bool isComplete() const { return kernels_ != nullptr; }

 private:
  Job& setKernels(const JobKernels& kernels, std::size_t bodyBytes);
  Job& add(DomainBase& domain, JobAccess access, double scale);

  std::string name_;
  Box space_;
  int axis_ = 0;
  std::int64_t grain_ = 1;
  std::vector<DomainPart> domains_;
  std::function<void(const Box&, PartList&)> callback_;
  std::vector<JobForm> forms_;
  JobLimits limits_;
  std::int32_t callsInARow_ = 8;
  const JobKernels* kernels_ = nullptr;
  std::function<void(const TaskData&, void*)> makeBody_;
};

}  // namespace tessera::jobs
