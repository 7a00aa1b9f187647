#include "scheduler/jobs/job_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/text/contracts.hpp"
#include "scheduler/jobs/partition_check.hpp"

namespace tessera::jobs {
namespace {

/// Units of a wavefront's task, whose arrays hold all of them.
constexpr std::int64_t kMostWavefrontUnits = 1 << 16;
/// Who waits for tasks sleeps this long after one has ended, then longer each time: up to a 64th of the time
/// that the jobs have taken so far, and this long at most. On few cores each look takes time from the tasks.
constexpr double kShortestNap = 20e-6;
constexpr double kLongestNap = 300e-6;

class SteadyClock final : public JobClock {
 public:
  double now() override { return secondsNow(); }
  void sleep(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
};

}  // namespace

double secondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

JobClock& JobClock::steady() {
  static SteadyClock clock;
  return clock;
}

JobRunner::JobRunner(std::vector<std::unique_ptr<JobDevice>> devices, JobClock& clock)
    : devices_(std::move(devices)), clock_(clock) {
  TESSERA_EXPECT(!devices_.empty(), "give a runner of jobs at least one device");
  for (const auto& device : devices_) slots_.emplace_back(static_cast<std::size_t>(device->slots()));
}

JobRunner::~JobRunner() = default;

std::size_t JobRunner::add(const Job& job) {
  TESSERA_EXPECT(job.isComplete(), "give the job a body by runs() before it is added");
  checkPartition(job);
  for (const auto& device : devices_) {
    device->bindThread();
    device->prepare(job);
  }
  jobs_[nextJob_].job = &job;
  return nextJob_++;
}

void JobRunner::forget(std::size_t job) {
  TESSERA_EXPECT(jobs_.at(job).hasEnded, "forget a job once it has ended");
  jobs_.erase(job);
}

void JobRunner::forget(const DomainBase& domain) {
  for (const auto& device : devices_) {
    device->bindThread();
    device->forget(domain);
  }
}

void JobRunner::giveUp(std::span<const std::size_t> jobs) {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    devices_[device]->bindThread();
    for (std::size_t slot = 0; slot < slots_[device].size(); ++slot) {
      Slot& each = slots_[device][slot];
      if (!each.isBusy || std::ranges::find(jobs, each.job) == jobs.end()) continue;
      TaskEnd end;
      while (!devices_[device]->poll(static_cast<int>(slot), end)) clock_.sleep(kShortestNap);
      each.isBusy = false;
    }
  }
  for (const std::size_t job : jobs) {
    for (const DomainPart& part : jobs_.at(job).job->domains()) forget(*part.domain);
    jobs_.erase(job);
  }
}

JobRunner::Habit& JobRunner::habit(const Job& job, std::size_t device) {
  const auto [found, isNew] = habits_.try_emplace({job.name(), device});
  if (!isNew) return found->second;
  const std::optional<JobForm> kept = paces_.fastestKept(job.name(), devices_[device]->name());
  const bool isOpen = job.forms().size() > 1;
  if (isOpen && kept && std::ranges::find(job.forms(), *kept) != job.forms().end()) {
    found->second.form = FormChoice({*kept}, FormSource::Kept);
  } else {
    found->second.form = FormChoice(job.forms(), isOpen ? FormSource::Measured : FormSource::Declared);
  }
  return found->second;
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

bool JobRunner::isReady(std::size_t number, const Open& open) const {
  for (const auto& [before, other] : jobs_) {
    if (before == number) break;
    if (!other.hasEnded && conflicts(*other.job, *open.job)) return false;
  }
  return !open.hasEnded;
}

void JobRunner::begin(Open& open) {
  open.hasBegun = true;
  open.begun = clock_.now();
  for (const DomainPart& part : open.job->domains()) {
    open.versions.push_back(part.domain->version());
    if (part.access != JobAccess::Read) part.domain->markChanged();
    open.nextVersions.push_back(part.domain->version());
  }
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    open.habits.push_back(&habit(*open.job, n));
    open.copiesBefore.push_back(devices_[n]->copies());
    open.report.shares.push_back({});
    open.report.shares.back().device = devices_[n]->name();
  }
}

void JobRunner::end(Open& open) {
  for (const auto& device : devices_) {
    device->bindThread();
    device->finish(*open.job);
  }
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    const CopyCounts& now = devices_[n]->copies();
    const CopyCounts& before = open.copiesBefore[n];
    open.report.shares[n].copies = {now.toDevice - before.toDevice, now.fromDevice - before.fromDevice,
                                    now.toDeviceBytes - before.toDeviceBytes,
                                    now.fromDeviceBytes - before.fromDeviceBytes};
  }
  const double now = clock_.now();
  open.report.seconds = now - open.begun;
  open.hasEnded = true;
  if (notesSpans_) spans_.push_back({open.job->name(), open.begun, now, std::move(open.tasks)});
}

std::vector<detail::DeviceDemand> JobRunner::demandsOf(const Open& open) const {
  std::vector<detail::DeviceDemand> demands;
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    const Habit& habit = *open.habits[n];
    const FormChoice& form = habit.form;
    detail::DeviceDemand demand;
    demand.slots = devices_[n]->slots();
    demand.busy = static_cast<int>(std::ranges::count_if(slots_[n], &Slot::isBusy));
    demand.isNarrow = devices_[n]->isNarrow();
    demand.width = devices_[n]->width();
    demand.unitsPerSecond = habit.unitsPerSecond;
    demand.forms = form.candidates();
    demand.isLastRound = form.isLastRound();
    double rate = habit.recent.unitsPerSecond();
    if (rate == 0.0) rate = paces_.unitsPerSecond({open.job->name(), devices_[n]->name(), form.next()});
    if (form.isMade()) demand.rate = rate * demand.slots;
    demands.push_back(demand);
  }
  return demands;
}

detail::JobDemand JobRunner::demandOf(const Open& open) const {
  detail::JobDemand demand;
  demand.pieces = open.job->pieces();
  demand.left = demand.pieces - open.nextPiece;
  demand.unitsOfPiece = open.job->unitsOf(0, 1).volume();
  demand.seconds = clock_.now() - open.begun;
  return demand;
}

bool JobRunner::start(std::size_t device, int slot, std::size_t number, JobForm form, std::int64_t pieces) {
  Open& open = jobs_.at(number);
  const std::int64_t first = open.nextPiece;
  JobTask task;
  task.job = open.job;
  task.form = form;
  task.units = open.job->unitsOf(first, first + pieces);
  task.parts = open.job->partsOf(task.units);
  checkTask(*open.job, task.units, first, first + pieces, task.parts);
  task.versions = open.versions;
  task.nextVersions = open.nextVersions;
  if (!devices_[device]->start(slot, task)) return false;
  open.nextPiece += pieces;
  ++open.inFlight;
  open.habits[device]->form.handedOut(form);
  slots_[device][static_cast<std::size_t>(slot)] = {
      true, number, form, first, first + pieces, task.units.volume(), clock_.now()};
  return true;
}

void JobRunner::deal(std::size_t device, int slot) {
  for (auto& [number, open] : jobs_) {
    if (open.failure || open.hasEnded || open.nextPiece == open.job->pieces() || !isReady(number, open))
      continue;
    try {
      if (!open.hasBegun) begin(open);
      // A thread that is too slow for the rest of this job may have another one.
      if (!deal(device, slot, number, open) && devices_[device]->isNarrow()) continue;
    } catch (...) {
      open.failure = std::current_exception();
    }
    return;
  }
}

bool JobRunner::deal(std::size_t device, int slot, std::size_t number, Open& open) {
  Habit& habit = *open.habits[device];
  const detail::JobDemand demand = demandOf(open);
  const std::vector<detail::DeviceDemand> devices = demandsOf(open);
  if (detail::shouldWait(demand, devices, device)) return false;
  for (;;) {
    const JobForm form = habit.form.next();
    std::int64_t pieces = std::min(detail::piecesOf(demand, devices, device), habit.mostPieces);
    if (form == JobForm::Wavefront)
      pieces = std::clamp<std::int64_t>(pieces, 1,
                                        std::max<std::int64_t>(1, kMostWavefrontUnits / demand.unitsOfPiece));
    if (start(device, slot, number, form, pieces)) return true;
    const bool isIdle = std::ranges::none_of(slots_[device], [](const Slot& each) { return each.isBusy; });
    if (!isIdle) return false;  // what is in flight gives its memory back
    const std::int64_t before = habit.mostPieces;
    while (pieces > 1) {
      pieces = (pieces + 1) / 2;
      habit.mostPieces = pieces;
      if (start(device, slot, number, form, pieces)) return true;
    }
    if (!habit.form.exclude(form)) failMemory(open, device);
    habit.mostPieces = before;
  }
}

void JobRunner::failMemory(const Open& open, std::size_t device) const {
  const Box units = open.job->unitsOf(open.nextPiece, open.nextPiece + 1);
  throw JobError(
      Message("a device has no memory for the smallest task of the job " + open.job->name())
          .line("device  ", devices_[device]->name())
          .line("task    units ", asText(units))
          .line("fix     cut the job into smaller pieces, give the device more memory, or leave it out")
          .text());
}

void JobRunner::fail(const Job& job, const Box& units, JobForm form, TaskFault fault) const {
  const JobLimits& limits = job.limits();
  Message message("units of the job " + job.name() + " do not come to an end");
  message.line("task  units ", asText(units), ", form ", formText(form));
  if (fault == TaskFault::PushedTooMany) {
    message.line("limit pushed: more than ", limits.pushedBy(units.volume()),
                 " units were pushed by one task");
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
  Open& open = jobs_.at(slot.job);
  slot.isBusy = false;
  --open.inFlight;
  if (end.fault != TaskFault::None)
    fail(*open.job, open.job->unitsOf(slot.firstPiece, slot.endPiece), slot.form, end.fault);
  TESSERA_EXPECT(end.ended == slot.units + end.pushed, "report this: units of a job were lost or run twice");
  const double now = clock_.now();
  const auto units = static_cast<double>(slot.units);
  paces_.add({open.job->name(), devices_[device]->name(), slot.form}, units, now - slot.begun);
  const double spent = end.done > 0.0 ? end.done - end.begun : now - slot.begun;
  Habit& habit = *open.habits[device];
  FormChoice& form = habit.form;
  habit.unitsPerSecond = units / std::max(spent, 1e-9);
  if (form.isMade() && form.next() == slot.form) {
    // Tasks of before count less with each: the first one of a device may have loaded its kernels.
    const double kept = 1.0 - 0.5 / devices_[device]->slots();
    habit.recent = {kept * habit.recent.units + units, kept * habit.recent.seconds + now - slot.begun};
  }
  form.ended(slot.form, habit.unitsPerSecond);
  gotOn_ = true;
  JobReport& report = open.report;
  report.units += slot.units;
  report.pushed += end.pushed;
  report.calls += end.calls;
  report.shared += end.shared;
  JobReport::Share& share = report.shares[device];
  ++share.tasks;
  share.units += slot.units;
  share.form = form.isMade() ? form.next() : slot.form;
  share.source = form.source();
  if (!notesSpans_) return;
  const bool isTimed = end.done > 0.0;
  open.tasks.push_back(
      {device, slot.form, slot.units, isTimed ? end.begun : slot.begun, isTimed ? end.done : now});
}

bool JobRunner::goOn() {
  gotOn_ = false;
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    devices_[device]->bindThread();
    for (int slot = 0; slot < devices_[device]->slots(); ++slot) {
      const Slot& each = slots_[device][static_cast<std::size_t>(slot)];
      TaskEnd end;
      if (each.isBusy && devices_[device]->poll(slot, end)) {
        try {
          take(device, slot, end);
        } catch (...) {
          jobs_.at(each.job).failure = std::current_exception();
        }
      }
      if (!each.isBusy) deal(device, slot);
    }
  }
  bool all = true;
  for (auto& [number, open] : jobs_) {
    const bool isWhole = open.inFlight == 0 && open.nextPiece == open.job->pieces();
    if (open.hasBegun && !open.hasEnded && isWhole && !open.failure) end(open);
    all = all && open.hasEnded;
  }
  return all;
}

bool JobRunner::proceed() {
  const bool all = goOn();
  for (const auto& [number, open] : jobs_) {
    if (open.failure) std::rethrow_exception(open.failure);
  }
  return all;
}

bool JobRunner::proceed(std::size_t job) {
  const Open& open = jobs_.at(job);
  if (!open.hasEnded) goOn();
  if (open.failure) std::rethrow_exception(open.failure);
  return open.hasEnded;
}

void JobRunner::run(const std::function<void(std::int64_t, std::int64_t)>& show) {
  const double begun = clock_.now();
  double shown = begun;
  double nap = kShortestNap;
  while (!proceed()) {
    const double longest = std::clamp((clock_.now() - begun) / 64, kShortestNap, kLongestNap);
    nap = gotOn_ ? kShortestNap : std::min(1.5 * nap, longest);
    clock_.sleep(nap);
    if (!show || clock_.now() - shown < 1.0) continue;
    shown = clock_.now();
    std::int64_t done = 0;
    std::int64_t units = 0;
    for (const auto& [number, open] : jobs_) {
      done += open.report.units;
      units += open.job->space().volume();
    }
    show(done, units);
  }
}

}  // namespace tessera::jobs
