#include "scheduler/jobs/job_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/text/contracts.hpp"
#include "scheduler/jobs/partition_check.hpp"

namespace tessera::jobs {
namespace {

/// First tasks: so many to each slot, if all were as fast.
constexpr std::int64_t kFirstTasks = 8;
/// Units of a wavefront's task, whose arrays hold all of them.
constexpr std::int64_t kMostWavefrontUnits = 1 << 16;

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

JobRunner::JobRunner(std::vector<std::unique_ptr<JobDevice>> devices) : devices_(std::move(devices)) {
  TESSERA_EXPECT(!devices_.empty(), "give a runner of jobs at least one device");
  for (const auto& device : devices_) slots_.emplace_back(static_cast<std::size_t>(device->slots()));
}

JobRunner::~JobRunner() = default;

std::size_t JobRunner::add(const Job& job) {
  TESSERA_EXPECT(job.isComplete(), "give the job a body by runs() before it is added");
  checkPartition(job);
  jobs_.push_back({});
  jobs_.back().job = &job;
  return jobs_.size() - 1;
}

bool JobRunner::conflicts(const Job& a, const Job& b) const {
  for (const DomainPart& mine : a.domains()) {
    for (const DomainPart& other : b.domains()) {
      if (mine.domain != other.domain) continue;
      if (mine.access != JobAccess::Read || other.access != JobAccess::Read) return true;
    }
  }
  return false;
}

bool JobRunner::isReady(std::size_t job) const {
  for (std::size_t n = 0; n < job; ++n) {
    if (!jobs_[n].hasEnded && conflicts(*jobs_[n].job, *jobs_[job].job)) return false;
  }
  return !jobs_[job].hasEnded;
}

void JobRunner::begin(Open& open) {
  open.hasBegun = true;
  open.begun = secondsNow();
  for (const DomainPart& part : open.job->domains()) {
    open.versions.push_back(part.domain->version());
    if (part.access != JobAccess::Read) part.domain->markChanged();
    open.nextVersions.push_back(part.domain->version());
  }
  for (const auto& device : devices_) {
    open.copiesBefore.push_back(device->copies());
    open.report.shares.push_back({device->name(), 0, 0, {}});
  }
}

void JobRunner::end(std::size_t job) {
  Open& open = jobs_[job];
  for (const auto& device : devices_) device->finish(*open.job);
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    const CopyCounts& now = devices_[n]->copies();
    const CopyCounts& before = open.copiesBefore[n];
    open.report.shares[n].copies = {now.toDevice - before.toDevice, now.fromDevice - before.fromDevice,
                                    now.toDeviceBytes - before.toDeviceBytes,
                                    now.fromDeviceBytes - before.fromDeviceBytes};
  }
  open.report.seconds = secondsNow() - open.begun;
  open.hasEnded = true;
}

/// Half of the device's share of what is left, for each of its slots; its share is by its pace so far.
std::int64_t JobRunner::share(std::size_t device, std::size_t job) {
  const Job& work = *jobs_[job].job;
  const std::int64_t left = work.pieces() - jobs_[job].nextPiece;
  double all = 0.0;
  double mine = 0.0;
  bool isKnown = true;
  double slots = 0.0;
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    const Pace& pace = paces_[{work.name(), n}];
    const double rate = pace.seconds > 0.0 ? pace.pieces / pace.seconds * devices_[n]->slots() : 0.0;
    isKnown = isKnown && rate > 0.0;
    all += rate;
    if (n == device) mine = rate;
    slots += devices_[n]->slots();
  }
  const auto here = static_cast<double>(devices_[device]->slots());
  std::int64_t size =
      isKnown ? static_cast<std::int64_t>(std::ceil(static_cast<double>(left) * mine / all / (2.0 * here)))
              : static_cast<std::int64_t>(static_cast<double>(work.pieces()) / (slots * kFirstTasks));
  if (work.form() == JobForm::Wavefront) {
    const std::int64_t each = work.unitsOf(0, 1).volume();
    size = std::min(size, kMostWavefrontUnits / std::max<std::int64_t>(1, each));
  }
  return std::clamp<std::int64_t>(size, 1, std::min(left, paces_[{work.name(), device}].mostPieces));
}

bool JobRunner::start(std::size_t device, int slot, std::size_t job, std::int64_t pieces) {
  Open& open = jobs_[job];
  const std::int64_t first = open.nextPiece;
  JobTask task;
  task.job = open.job;
  task.units = open.job->unitsOf(first, first + pieces);
  task.parts = open.job->partsOf(task.units);
  checkTask(*open.job, task.units, first, first + pieces, task.parts);
  task.versions = open.versions;
  task.nextVersions = open.nextVersions;
  if (!devices_[device]->start(slot, task)) return false;
  open.nextPiece += pieces;
  ++open.inFlight;
  slots_[device][static_cast<std::size_t>(slot)] = {
      true, job, first, first + pieces, task.units.volume(), secondsNow()};
  return true;
}

bool JobRunner::deal(std::size_t device, int slot) {
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (!isReady(job) || jobs_[job].nextPiece == jobs_[job].job->pieces()) continue;
    if (!jobs_[job].hasBegun) begin(jobs_[job]);
    std::int64_t pieces = share(device, job);
    if (start(device, slot, job, pieces)) return true;
    const bool isIdle = std::ranges::none_of(slots_[device], [](const Slot& each) { return each.isBusy; });
    if (!isIdle) return false;  // what is in flight gives its memory back
    while (pieces > 1) {
      pieces = (pieces + 1) / 2;
      paces_[{jobs_[job].job->name(), device}].mostPieces = pieces;
      if (start(device, slot, job, pieces)) return true;
    }
    const Box units = jobs_[job].job->unitsOf(jobs_[job].nextPiece, jobs_[job].nextPiece + 1);
    throw JobError(
        Message("a device has no memory for the smallest task of the job " + jobs_[job].job->name())
            .line("device  ", devices_[device]->name())
            .line("task    units ", asText(units))
            .line("fix     cut the job into smaller pieces, give the device more memory, or leave it out")
            .text());
  }
  return false;
}

void JobRunner::fail(const Job& job, const Box& units, TaskFault fault) const {
  const JobLimits& limits = job.limits();
  Message message("units of the job " + job.name() + " do not come to an end");
  message.line("task  units ", asText(units), ", form ", formText(job.form()));
  if (fault == TaskFault::PushedTooMany) {
    message.line("limit pushed: more than ", limits.pushed, " units were pushed by one task");
  } else if (fault == TaskFault::QueueFull) {
    message.line("limit queue: more units wait at a time than there are places (", limits.queue,
                 " for a task, 64 for a thread of the forms regular and consumer)");
  } else {
    message.line("limit calls: a unit was called more than ", limits.calls, " times");
  }
  throw JobError(
      message.line("fix   let the body return Done, push less, or raise this limit of the job").text());
}

void JobRunner::take(std::size_t device, int number, const TaskEnd& end) {
  Slot& slot = slots_[device][static_cast<std::size_t>(number)];
  Open& open = jobs_[slot.job];
  slot.isBusy = false;
  --open.inFlight;
  if (end.fault != TaskFault::None)
    fail(*open.job, open.job->unitsOf(slot.firstPiece, slot.endPiece), end.fault);
  TESSERA_EXPECT(end.ended == slot.units + end.pushed, "report this: units of a job were lost or run twice");
  Pace& pace = paces_[{open.job->name(), device}];
  pace.pieces += static_cast<double>(slot.endPiece - slot.firstPiece);
  pace.seconds += secondsNow() - slot.begun;
  JobReport& report = open.report;
  report.units += slot.units;
  report.pushed += end.pushed;
  report.calls += end.calls;
  report.shared += end.shared;
  ++report.shares[device].tasks;
  report.shares[device].units += slot.units;
}

bool JobRunner::proceed() {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    for (int slot = 0; slot < devices_[device]->slots(); ++slot) {
      TaskEnd end;
      if (slots_[device][static_cast<std::size_t>(slot)].isBusy && devices_[device]->poll(slot, end))
        take(device, slot, end);
      if (!slots_[device][static_cast<std::size_t>(slot)].isBusy) deal(device, slot);
    }
  }
  bool all = true;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    Open& open = jobs_[job];
    if (open.hasBegun && !open.hasEnded && open.inFlight == 0 && open.nextPiece == open.job->pieces())
      end(job);
    all = all && open.hasEnded;
  }
  return all;
}

void JobRunner::run(const std::function<void(std::int64_t, std::int64_t)>& show) {
  double shown = secondsNow();
  while (!proceed()) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (!show || secondsNow() - shown < 1.0) continue;
    shown = secondsNow();
    std::int64_t done = 0;
    std::int64_t units = 0;
    for (const Open& open : jobs_) {
      done += open.report.units;
      units += open.job->space().volume();
    }
    show(done, units);
  }
}

}  // namespace tessera::jobs
