// Jobs give the same bits in every form, on every set of devices; mistakes are named.
#include "scheduler/jobs/job_runner.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/device/backend/emulated_device.hpp"
#include "scheduler/jobs/step_jobs.hpp"
#include "tests/scheduler/jobs/branching_walk.hpp"

namespace tessera::jobs {
namespace {

using namespace tessera::jobs::testing;
using ::testing::HasSubstr;

constexpr std::int64_t kUnits = 3000;

/// `threads` < 0: no threads of the host; emulated devices with memory for parts.
std::vector<std::unique_ptr<JobDevice>> devicesOf(int threads, int emulated, std::int64_t memory = 32 << 20) {
  std::vector<std::unique_ptr<JobDevice>> devices;
  if (threads >= 0) devices.push_back(makeHostJobDevice(threads));
  for (int n = 0; n < emulated; ++n) {
    EmulatedOptions options;
    options.number = n;
    options.longestDelay = std::chrono::microseconds(5);
    devices.push_back(makeBackendJobDevice(makeEmulatedDevice(options), {.memoryBytes = memory}));
  }
  return devices;
}

/// The data of a job of branching walks.
struct Walks {
  Domain<double> weights;
  Domain<double> ends;
  Sums sums{"sums", {3, 1, 1}, 0x1p-36};
  Job job;

  explicit Walks(JobForm form, std::int64_t units = kUnits)
      : weights("weights", {units, 1, 1}), ends("ends", {units, 1, 1}), job("walks", {units, 1, 1}) {
    double value = 0.5;
    for (double& weight : weights.change()) weight = value += 0.25;
    job.reads(weights).writes(ends).reduces(sums).cutAlong(0, 10).form(form).callsInARow(3);
    job.runs<BranchingWalk>(branchingWalkKernels(), [this](const TaskData& task) {
      return BranchingWalk{task.read(weights), task.write(ends), task.sums(sums)};
    });
  }
  std::string bytes() const {
    std::string text(reinterpret_cast<const char*>(ends.data()), static_cast<std::size_t>(ends.bytes()));
    return text.append(reinterpret_cast<const char*>(sums.data()), static_cast<std::size_t>(sums.bytes()));
  }
};

/// A plain loop over units, each with a stack: what every form has to give.
std::string plainResult(std::int64_t& pushed) {
  Walks walks(JobForm::Regular);
  std::vector<BranchingWalk::Unit> stack;
  struct Pushes {
    std::vector<BranchingWalk::Unit>& stack;
    bool push(const BranchingWalk::Unit& unit) {
      stack.push_back(unit);
      return true;
    }
  } pushes{stack};
  const BranchingWalk body{{walks.weights.values().data(), {}, 0, 0},
                           {walks.ends.change().data(), {}, 0, 0},
                           {{walks.sums.change().data(), {}, 0, 0}, 0x1p36}};
  for (std::int64_t n = 0; n < kUnits; ++n) {
    stack.push_back(body.first({n, 0, 0}));
    while (!stack.empty()) {
      BranchingWalk::Unit unit = stack.back();
      stack.pop_back();
      const std::size_t before = stack.size();
      while (body.advance(unit, pushes) == UnitEnd::GoOn) {
      }
      pushed += static_cast<std::int64_t>(stack.size() - before);
    }
  }
  return walks.bytes();
}

TEST(Jobs, EveryFormOnEveryDeviceSetHasTheBitsOfAPlainLoop) {
  std::int64_t pushed = 0;
  const std::string expected = plainResult(pushed);
  ASSERT_GT(pushed, 1000);
  for (int form = 0; form < kForms; ++form) {
    for (const auto& [threads, emulated] : {std::pair{0, 0}, {2, 0}, {-1, 1}, {-1, 2}, {2, 2}}) {
      SCOPED_TRACE(std::string(formText(static_cast<JobForm>(form))) + ", threads " +
                   std::to_string(threads) + ", emulated devices " + std::to_string(emulated));
      Walks walks(static_cast<JobForm>(form));
      JobRunner runner(devicesOf(threads, emulated));
      runner.add(walks.job);
      runner.run();
      EXPECT_TRUE(walks.bytes() == expected);
      EXPECT_EQ(runner.report(0).units, kUnits);
      EXPECT_EQ(runner.report(0).pushed, pushed);
    }
  }
}

/// Few units, so that no block's own queue of 64 is ever full: what moves is given away.
TEST(Jobs, BlocksThatHaveNothingLeftGetUnitsOfOthers) {
  for (int form = 0; form < kForms; ++form) {
    Walks walks(static_cast<JobForm>(form), 20);
    walks.job.cutAlong(0, 20);
    JobRunner runner(devicesOf(-1, 1));
    runner.add(walks.job);
    runner.run();
    const bool gives = static_cast<JobForm>(form) == JobForm::ConsumerProducer;
    EXPECT_EQ(runner.report(0).shared > 0, gives) << formText(static_cast<JobForm>(form));
  }
}

/// The most tasks of one device that were under way at a time.
std::ptrdiff_t mostInFlight(int window) {
  Walks walks(JobForm::Consumer);
  std::vector<std::unique_ptr<JobDevice>> devices;
  devices.push_back(
      makeBackendJobDevice(makeEmulatedDevice({}), {.window = window, .memoryBytes = 32 << 20}));
  JobRunner runner(std::move(devices));
  runner.noteSpans();
  runner.add(walks.job);
  runner.run();
  const std::vector<TaskSpan> tasks = runner.takeSpans().at(0).tasks;
  EXPECT_GT(tasks.size(), 4U);
  std::ptrdiff_t most = 0;
  for (const TaskSpan& task : tasks) {
    most = std::max(most, std::ranges::count_if(tasks, [&](const TaskSpan& other) {
                      return other.begin <= task.begin && task.begin < other.end;
                    }));
  }
  return most;
}

TEST(Jobs, ADeviceHasAsManyTasksInFlightAsItsWindow) {
  for (const int window : {1, 2, 4}) EXPECT_EQ(mostInFlight(window), window);
}

TEST(Jobs, ReplicatedDomainsAreCopiedOnceAndNothingIsCopiedTwice) {
  Walks walks(JobForm::Consumer);
  walks.job.partition([&](const Box&, PartList& parts) { parts.set(walks.weights, walks.weights.box()); });
  JobRunner runner(devicesOf(-1, 1));
  runner.add(walks.job);
  runner.run();
  const JobReport::Share& share = runner.report(0).shares[0];
  EXPECT_EQ(share.copies.toDevice, 1);
  EXPECT_EQ(share.copies.toDeviceBytes, walks.weights.bytes());
  EXPECT_EQ(share.copies.fromDeviceBytes, walks.ends.bytes() + 2 * walks.sums.bytes());  // two slots
}

TEST(Jobs, WhatAJobWroteIsReadByTheNextOneWithoutACopy) {
  Walks first(JobForm::Consumer);
  Walks second(JobForm::Consumer);
  Job next("next", {kUnits, 1, 1});
  next.reads(first.ends).writes(second.ends).reduces(second.sums).cutAlong(0, kUnits);
  next.runs<BranchingWalk>(branchingWalkKernels(), [&](const TaskData& task) {
    return BranchingWalk{task.read(first.ends), task.write(second.ends), task.sums(second.sums)};
  });
  first.job.cutAlong(0, kUnits);
  JobRunner runner(devicesOf(-1, 1));
  runner.add(first.job);
  runner.add(next);
  runner.run();
  EXPECT_EQ(runner.report(1).shares[0].copies.toDevice, 0);
}

TEST(Jobs, DevicesWithLittleMemoryTakeSmallerTasks) {
  std::int64_t pushed = 0;
  const std::string expected = plainResult(pushed);
  Walks walks(JobForm::Wavefront);
  walks.job.limits({.queue = 1 << 12});
  walks.job.partition([&](const Box& units, PartList& parts) { parts.set(walks.weights, units); });
  JobRunner runner(devicesOf(-1, 1, 10 * 65536));
  runner.add(walks.job);
  runner.run();
  EXPECT_TRUE(walks.bytes() == expected);
}

TEST(JobForms, ACalibrationRunsAllFormsThenTheFastestAndChangesNoBit) {
  std::int64_t pushed = 0;
  const std::string expected = plainResult(pushed);
  const std::vector<JobForm> all{JobForm::Regular, JobForm::Consumer, JobForm::ConsumerProducer,
                                 JobForm::Wavefront};
  std::map<PaceKey, Pace> paces;
  std::string device;
  {
    Walks walks(JobForm::Regular);
    walks.job.fastestOf(all);
    JobRunner runner(devicesOf(2, 0));
    runner.noteSpans();
    runner.add(walks.job);
    runner.run();
    EXPECT_TRUE(walks.bytes() == expected);
    std::map<JobForm, int> tasks;
    const std::vector<JobSpan> spans = runner.takeSpans();
    ASSERT_EQ(spans.size(), 1U);
    std::int64_t units = 0;
    for (const TaskSpan& task : spans[0].tasks) {
      ++tasks[task.form];
      units += task.units;
      EXPECT_LE(spans[0].begin, task.begin);
      EXPECT_LE(task.begin, task.end);
      EXPECT_LE(task.end, spans[0].end);
    }
    EXPECT_EQ(units, kUnits);
    for (const JobForm form : all) EXPECT_GE(tasks[form], FormChoice::kTasks) << formText(form);
    EXPECT_EQ(runner.report(0).shares[0].source, FormSource::Measured);
    paces = runner.paces().all();
    device = runner.devices()[0]->name();
    EXPECT_EQ(paces.size(), 4U);
  }
  for (auto& [key, pace] : paces) pace = {key.form == JobForm::Wavefront ? 1e9 : 1.0, 1.0};
  Walks walks(JobForm::Regular);
  walks.job.fastestOf(all);
  JobRunner runner(devicesOf(2, 0));
  for (const auto& [key, pace] : paces) runner.paces().keep(key, pace);
  runner.noteSpans();
  runner.add(walks.job);
  runner.run();
  EXPECT_TRUE(walks.bytes() == expected);
  EXPECT_EQ(runner.report(0).shares[0].form, JobForm::Wavefront);
  EXPECT_EQ(runner.report(0).shares[0].source, FormSource::Kept);
  const std::vector<JobSpan> spans = runner.takeSpans();
  for (const TaskSpan& task : spans.at(0).tasks) EXPECT_EQ(task.form, JobForm::Wavefront);
}

TEST(JobForms, AFormThatADeviceHasNoMemoryForIsLeftOut) {
  std::int64_t pushed = 0;
  const std::string expected = plainResult(pushed);
  Walks walks(JobForm::Regular);
  walks.job.fastestOf({JobForm::ConsumerProducer, JobForm::Consumer}).limits({.queue = 1 << 16});
  JobRunner runner(devicesOf(-1, 1, 1 << 20));
  runner.add(walks.job);
  runner.run();
  EXPECT_TRUE(walks.bytes() == expected);
  EXPECT_EQ(runner.report(0).shares[0].form, JobForm::Consumer);
}

/// Hands out the next task of `choice`, which ends at once.
void runOne(FormChoice& choice, const std::map<JobForm, double>& rates) {
  const JobForm form = choice.next();
  choice.handedOut(form);
  choice.ended(form, rates.at(form));
}

TEST(JobForms, TheLastTasksOfThoseThatAreNotFarBehindDecide) {
  FormChoice choice({JobForm::Regular, JobForm::Consumer, JobForm::Wavefront}, FormSource::Measured);
  const std::map<JobForm, double> cold{
      {JobForm::Regular, 0.1}, {JobForm::Consumer, 0.1}, {JobForm::Wavefront, 0.1}};
  const std::map<JobForm, double> few{
      {JobForm::Regular, 3.0}, {JobForm::Consumer, 5.0}, {JobForm::Wavefront, 2.4}};
  for (int task = 0; task < 3; ++task) runOne(choice, cold);
  EXPECT_FALSE(choice.isLastRound());
  for (int task = 0; task < 3; ++task) runOne(choice, few);
  EXPECT_TRUE(choice.isLastRound());
  EXPECT_EQ(choice.candidates(), 2);  // the wavefront is less than half as fast
  const std::map<JobForm, double> many{{JobForm::Regular, 4.5}, {JobForm::Consumer, 4.0}};
  for (int task = 0; task < 2; ++task) {
    EXPECT_FALSE(choice.isMade());
    runOne(choice, many);
  }
  EXPECT_TRUE(choice.isMade());
  EXPECT_EQ(choice.next(), JobForm::Regular);
}

TEST(JobPaces, WhatAnEarlierRunHasMeasuredSharesTheFirstTasks) {
  Walks walks(JobForm::Consumer);
  JobRunner runner(devicesOf(-1, 2));
  runner.paces().keep({"walks", runner.devices()[0]->name(), JobForm::Consumer}, {3e6, 1.0});
  runner.paces().keep({"walks", runner.devices()[1]->name(), JobForm::Consumer}, {1e6, 1.0});
  runner.noteSpans();
  runner.add(walks.job);
  EXPECT_FALSE(runner.proceed());  // the first hand-out: half of each device's share, a slot of two each
  runner.run();
  std::map<std::size_t, std::int64_t> first;
  std::vector<TaskSpan> tasks = runner.takeSpans().at(0).tasks;
  std::ranges::sort(tasks, {}, &TaskSpan::begin);
  for (const TaskSpan& task : tasks) first.try_emplace(task.device, task.units);
  EXPECT_GE(first.at(0), 560);  // 3000 x 3/4 / 4
  EXPECT_LE(first.at(1), 190);
}

TEST(JobPaces, AThreadBeginsWithOnePieceBesideADeviceThatNobodyKnowsYet) {
  Walks walks(JobForm::Consumer);
  JobRunner runner(devicesOf(1, 1));
  ASSERT_EQ(runner.devices()[0]->name(), "1 thread");
  runner.noteSpans();
  runner.add(walks.job);
  runner.run();
  std::map<std::size_t, std::int64_t> first;
  std::vector<TaskSpan> tasks = runner.takeSpans().at(0).tasks;
  std::ranges::sort(tasks, {}, &TaskSpan::begin);
  for (const TaskSpan& task : tasks) first.try_emplace(task.device, task.units);
  EXPECT_EQ(first.at(0), walks.job.unitsOf(0, 1).volume());
  EXPECT_GT(first.at(1), 5 * first.at(0));
}

std::string mistakeOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const JobError& error) {
    EXPECT_EQ(error.exitCode(), 2);
    return error.message();
  }
  return "no mistake was found";
}

TEST(JobMistakes, PartitionsThatOverlapOrLeaveGapsAreNamed) {
  Walks walks(JobForm::Regular);
  JobRunner runner(devicesOf(0, 0));
  walks.job.partition([&](const Box& units, PartList& parts) {
    Box more = units;
    more.hi.i = std::min(kUnits, more.hi.i + 1);
    parts.set(walks.ends, more);
  });
  EXPECT_THAT(mistakeOf([&] { runner.add(walks.job); }),
              AllOf(HasSubstr("two tasks write the same elements"), HasSubstr("ends"), HasSubstr("fix")));
  walks.job.partition([&](const Box& units, PartList& parts) {
    Box less = units;
    less.lo.i += units.lo.i == 100 ? 1 : 0;
    parts.set(walks.ends, less);
  });
  EXPECT_THAT(mistakeOf([&] { runner.add(walks.job); }),
              AllOf(HasSubstr("that no task writes"), HasSubstr("[100,0,0]..[100,0,0]")));
}

TEST(JobMistakes, ABodyThatPushesWithoutEndRunsIntoTheLimit) {
  for (int form = 0; form < kForms; ++form) {
    Job job("endless", {8, 1, 1});
    job.form(static_cast<JobForm>(form)).limits({.pushed = 5000, .queue = 1 << 10});
    job.runs<Endless>(endlessKernels(), [](const TaskData&) { return Endless{}; });
    JobRunner runner(devicesOf(0, 0));
    runner.add(job);
    EXPECT_THAT(mistakeOf([&] { runner.run(); }), AllOf(HasSubstr("job endless"), HasSubstr("limit pushed"),
                                                        HasSubstr(formText(static_cast<JobForm>(form)))));
  }
}

TEST(JobMistakes, TheLimitOfPushedUnitsGrowsWithTheUnitsOfATask) {
  constexpr std::int64_t kMany = 40'000;  // three times 16,384, rounded up
  for (const auto& [threads, emulated] : {std::pair{0, 0}, {-1, 1}}) {
    SCOPED_TRACE("threads " + std::to_string(threads) + ", emulated devices " + std::to_string(emulated));
    const auto pushed = [&, threads = threads, emulated = emulated](std::int64_t limit) {
      Domain<double> weights("weights", {kMany, 1, 1});
      Domain<double> ends("ends", {kMany, 1, 1});
      Sums sums("sums", {3, 1, 1}, 0x1p-36);
      Job job("walks", {kMany, 1, 1});
      job.reads(weights).writes(ends).reduces(sums).cutAlong(0, kMany).limits({.pushed = limit});
      job.runs<BranchingWalk>(branchingWalkKernels(), [&](const TaskData& task) {
        return BranchingWalk{task.read(weights), task.write(ends), task.sums(sums)};
      });
      JobRunner runner(devicesOf(threads, emulated));
      runner.add(job);
      runner.run();
      return runner.report(0).pushed;
    };
    const std::int64_t all = pushed(1 << 20);
    EXPECT_EQ(pushed(all / 2), all);
    EXPECT_THAT(mistakeOf([&] { pushed(all / 4); }),
                HasSubstr("limit pushed: more than " + std::to_string(3 * (all / 4)) + " units"));
  }
}

TEST(JobMistakes, AJobThatFailsBesideOthersFailsAlone) {
  std::int64_t pushed = 0;
  const std::string expected = plainResult(pushed);
  for (const auto& [threads, emulated] : {std::pair{2, 0}, {-1, 1}}) {
    SCOPED_TRACE("threads " + std::to_string(threads) + ", emulated devices " + std::to_string(emulated));
    Job endless("endless", {8, 1, 1});
    endless.form(JobForm::Consumer).limits({.pushed = 5000, .queue = 1 << 10});
    endless.runs<Endless>(endlessKernels(), [](const TaskData&) { return Endless{}; });
    Walks before(JobForm::Consumer);
    Walks after(JobForm::Consumer);
    StepJobs devices(devicesOf(threads, emulated));
    const std::size_t failing = devices.add(endless);
    const std::size_t walking = devices.add(before.job);
    while (!devices.proceed(walking)) {
    }
    EXPECT_TRUE(before.bytes() == expected);
    const auto askForIt = [&] {
      while (!devices.proceed(failing)) {
      }
    };
    EXPECT_THAT(mistakeOf(askForIt), AllOf(HasSubstr("job endless"), HasSubstr("limit pushed")));
    const std::size_t later = devices.add(after.job);
    EXPECT_FALSE(devices.proceed(later));
    devices.giveUp(std::vector{failing});
    while (!devices.proceed(later)) {
    }
    EXPECT_TRUE(after.bytes() == expected);
  }
}

TEST(JobMistakes, ADeviceWithoutMemoryForTheSmallestTaskIsNamed) {
  Walks walks(JobForm::ConsumerProducer);
  walks.job.limits({.queue = 1 << 16});
  JobRunner runner(devicesOf(-1, 1, 1 << 20));
  runner.add(walks.job);
  EXPECT_THAT(
      mistakeOf([&] { runner.run(); }),
      AllOf(HasSubstr("no memory for the smallest task of the job walks"), HasSubstr("emulated device 0")));
}

}  // namespace
}  // namespace tessera::jobs
