#include "scheduler/device_step/device_checks.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/text/contracts.hpp"
#include "datawarehouse/checked/checked_run.hpp"
#include "scheduler/device/checks/task_checks.hpp"

namespace tessera::detail {

namespace {

double numberOf(NonFinite kind) {
  switch (kind) {
    case NonFinite::Nan:
      return std::numeric_limits<double>::quiet_NaN();
    case NonFinite::MinusNan:
      return -std::numeric_limits<double>::quiet_NaN();
    case NonFinite::Infinity:
      return std::numeric_limits<double>::infinity();
    case NonFinite::MinusInfinity:
      break;
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace

void reportFinding(const TaskFrame& frame, const TaskError& finding) {
  const TaskAccess& access = frame.accesses[finding.access];
  const Index x = access.declared.lo + finding.at.relative;
  switch (finding.what) {
    case KernelError::Outside:
      reportOutside(frame, access, x);
    case KernelError::BesideEdge:
      expectBesideFace(frame, access, x);
      TESSERA_EXPECT(false, "a kernel has found an index at no edge");
      [[fallthrough]];
    case KernelError::Uncovered:
      expectCovered(frame, access, x);
      TESSERA_EXPECT(false, "a value of a patch has the bits of unwritten memory");
      [[fallthrough]];
    case KernelError::Unwritten:
      reportUnwritten(frame, access, x);
    case KernelError::NonFinite:
      break;
  }
  reportNonFinite(frame, access, x, numberOf(finding.at.number));
}

DeviceChecks::DeviceChecks(DeviceLane& lane, KernelErrorBoard& board, Mode mode,
                           std::function<void(const TaskError&)> report)
    : lane_(lane), board_(board), backend_(board.device), mode_(mode), report_(std::move(report)) {
  board_.checks.push_back(this);
}

DeviceChecks::~DeviceChecks() {
  std::erase(board_.checks, this);
  if (words_ != nullptr) backend_.release(DeviceSpace::Device, words_);
  if (marks_ != nullptr) backend_.release(DeviceSpace::Device, marks_);
}

void DeviceChecks::layOut(std::span<const CheckedTask> tasks) {
  if (!mode_.any() || tasks.empty()) return;
  std::int64_t accesses = 0;
  std::int64_t marks = 0;
  for (const CheckedTask& task : tasks) {
    firstAccess_.push_back(accesses);
    firstMark_.push_back(marks);
    accesses += static_cast<std::int64_t>(task.accesses);
    if (mode_.accesses) marks += task.marks;
  }
  firstAccess_.push_back(accesses);
  launched_.assign(tasks.size(), 0);
  // The running step, those that the device may not have begun or ended, and the one that the host looks at
  // last.
  const auto steps = mode_.replays ? 1 : static_cast<std::size_t>(lane_.options().stepsAhead) + 2;
  moments_.resize(steps);
  steps_.assign(steps, -1);
  const std::int64_t words = accesses * kDeviceFindings * std::ssize(moments_);
  if (words == 0) return;
  const std::int64_t bytes = words * static_cast<std::int64_t>(sizeof(std::int64_t));
  words_ = static_cast<std::int64_t*>(backend_.allocate(DeviceSpace::Device, bytes));
  lane_.putBeside(
      [&](DeviceStream stream) { backend_.fill(stream, words_, KernelErrors::kNothingByte, bytes); });
  if (marks > 0) marks_ = static_cast<std::uint8_t*>(backend_.allocate(DeviceSpace::Device, marks));
  lane_.synchronize();
}

void DeviceChecks::beginStep(const StepMoment& moment) {
  const std::int64_t step = board_.steps++;  // the same number on all devices of a rank
  if (words_ == nullptr) return;
  const auto slot = static_cast<std::size_t>(++runs_ % stepCount());
  moments_[slot] = moment;
  steps_[slot] = step;
}

std::int64_t* DeviceChecks::wordsOf(std::int32_t task) const {
  const std::int64_t slot = runs_ % stepCount();
  const std::int64_t access = slot * firstAccess_.back() + firstAccess_[static_cast<std::size_t>(task)];
  return words_ + access * kDeviceFindings;
}

void DeviceChecks::equip(std::int32_t task, const TaskFrame& frame, std::span<TaskAccess> accesses) const {
  if (words_ == nullptr) return;
  std::int64_t* words = wordsOf(task);
  std::int64_t mark = firstMark_[static_cast<std::size_t>(task)];
  for (TaskAccess& access : accesses) {
    access.findings = {words, board_.raised, board_.nowhere};
    words += kDeviceFindings;
    // A whole number may have the bits of memory that nobody wrote.
    access.holes = access.holes && holdsReals(frame.labels->info(access.label).type);
    if (access.facesOnly) {
      const Centering centering = frame.labels->info(access.label).centering;
      access.inner = boundingBox(frame.level->ownedBy(*frame.patch, centering), frame.patch->cells);
    }
    if (!mode_.accesses || access.mode != AccessMode::Write) continue;
    access.marks = marks_ + mark;
    mark += access.declared.volume();
  }
}

void DeviceChecks::recordBefore(std::int32_t task, const TaskFrame& frame, DeviceLoops& loops) {
  if (words_ == nullptr) return;
  launched_[static_cast<std::size_t>(task)] = board_.nextLaunched();
  if (!mode_.accesses) return;
  for (const TaskAccess& access : frame.accesses) {
    if (access.mode != AccessMode::Write) continue;
    recordPoison(loops, frame.task.data(), access, frame.labels->info(access.label));
  }
}

void DeviceChecks::recordAfter(const TaskFrame& frame, DeviceLoops& loops) const {
  if (words_ == nullptr) return;
  for (const TaskAccess& access : frame.accesses) {
    if (access.marks != nullptr) recordUnwrittenSearch(loops, frame.task.data(), access);
    const bool isOutput = access.mode == AccessMode::Write || access.mode == AccessMode::Modify;
    if (!isOutput || !mode_.nonFinite || loops.looksAt(access.findings.words)) continue;
    recordFiniteSearch(loops, frame.task.data(), access, frame.labels->info(access.label));
  }
}

std::optional<DeviceChecks::Candidate> DeviceChecks::first(DeviceStream stream) const {
  std::optional<Candidate> best;
  if (words_ == nullptr) return best;
  std::vector<std::int64_t> words(
      static_cast<std::size_t>(stepCount() * firstAccess_.back() * kDeviceFindings));
  backend_.copy(stream, CopyDirection::DeviceToHost, words.data(), words_,
                std::ssize(words) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  backend_.synchronize(stream);
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (words[n] == KernelErrors::kNothing) continue;
    const Candidate found = candidate(static_cast<std::int64_t>(n), words[n]);
    if (!best || found.comesBefore(*best)) best = found;
  }
  return best;
}

DeviceChecks::Candidate DeviceChecks::candidate(std::int64_t n, std::int64_t word) const {
  const std::int64_t accessOfAll = n / kDeviceFindings;
  const auto slot = static_cast<std::size_t>(accessOfAll / firstAccess_.back());
  const std::int64_t access = accessOfAll % firstAccess_.back();
  const auto behind = std::upper_bound(firstAccess_.begin(), firstAccess_.end(), access);
  const auto task = static_cast<std::size_t>(behind - firstAccess_.begin()) - 1;
  TaskError finding;
  finding.task = static_cast<std::int32_t>(task);
  finding.access = static_cast<std::size_t>(access - firstAccess_[task]);
  finding.what = static_cast<KernelError>(n % kDeviceFindings);
  finding.at = FoundAt::unpack(word);
  finding.moment = moments_[slot];
  return {steps_[slot], launched_[task], finding, this};
}

bool DeviceChecks::Candidate::comesBefore(const Candidate& other) const {
  const auto rank = [](const Candidate& c) {
    return std::tuple(c.step, c.launched, c.finding.what, c.finding.access);
  };
  return rank(*this) < rank(other);
}

std::optional<DeviceChecks::Candidate> DeviceChecks::earliest() const {
  std::optional<Candidate> best;
  if (!isRaised()) return best;
  lane_.putBeside([&](DeviceStream stream) {
    for (const DeviceChecks* checks : board_.checks) {
      const std::optional<Candidate> found = checks->first(stream);
      if (found && (!best || found->comesBefore(*best))) best = found;
    }
  });
  return best;
}

}  // namespace tessera::detail
