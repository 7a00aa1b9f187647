// What hand-out by demand costs, on simulated devices and a simulated clock: no test measures time.
#include <map>

#include <gtest/gtest.h>

#include "scheduler/jobs/job_runner.hpp"
#include "tests/scheduler/jobs/branching_walk.hpp"
#include "tests/scheduler/jobs/simulated_devices.hpp"

namespace tessera::jobs {
namespace {

using namespace tessera::jobs::testing;

const std::vector<JobForm> kOne{JobForm::Regular};
const std::vector<JobForm> kAll{JobForm::Regular, JobForm::Consumer, JobForm::ConsumerProducer,
                                JobForm::Wavefront};

/// A job of so many smallest tasks.
struct Load {
  std::int64_t pieces = 1;
  std::int64_t unitsOfPiece = 1;
  std::vector<JobForm> forms = kOne;
};

struct Outcome {
  JobReport report;
  std::vector<TaskSpan> tasks;
};

Outcome run(const std::vector<SimulatedSpeed>& speeds, const Load& load) {
  SimulatedClock clock;
  std::vector<std::unique_ptr<JobDevice>> devices;
  for (const SimulatedSpeed& speed : speeds)
    devices.push_back(std::make_unique<SimulatedDevice>(speed, clock));
  JobRunner runner(std::move(devices), clock);
  runner.noteSpans();
  Job job("simulated", {load.pieces * load.unitsOfPiece, 1, 1});
  job.cutAlong(0, load.unitsOfPiece).fastestOf(load.forms);
  job.runs<BranchingWalk>(branchingWalkKernels(), [](const TaskData&) { return BranchingWalk{}; });
  runner.add(job);
  runner.run();
  EXPECT_EQ(runner.report(0).units, job.space().volume());
  return {runner.report(0), runner.takeSpans().at(0).tasks};
}

/// The rate of both devices together over the sum of the rates of each alone.
double partOfTheSum(const SimulatedSpeed& a, const SimulatedSpeed& b, const Load& load) {
  const double together = run({a, b}, load).report.seconds;
  const double alone = 1.0 / run({a}, load).report.seconds + 1.0 / run({b}, load).report.seconds;
  return 1.0 / together / alone;
}

SimulatedSpeed threads(int workers, double unitsPerSecond) {
  return {.name = "threads", .workers = workers, .unitsPerSecond = unitsPerSecond};
}

/// Of the size of an H200: 528 blocks of 128 threads.
SimulatedSpeed card(double unitsPerSecond, double first = 0.0) {
  return {.name = "card",
          .isNarrow = false,
          .unitsPerSecond = unitsPerSecond,
          .overhead = 30e-6,
          .first = first,
          .width = 67'584.0};
}

TEST(DemandOfDevices, TwoThreadsOfDifferentSpeedEndTogether) {
  SimulatedSpeed slow = threads(1, 1e6);
  slow.name = "slow";
  EXPECT_GE(partOfTheSum(slow, threads(1, 3e6), {4000, 1000}), 0.99);
  slow.unitsPerSecond = 1e5;  // a piece takes 10 ms
  EXPECT_GE(partOfTheSum(slow, threads(1, 3e6), {4000, 1000}), 0.98);
}

TEST(DemandOfDevices, WorkThatGrowsAlongTheJobEndsTogetherToo) {
  for (const std::int64_t heavyFrom : {1'000'000, 2'000'000, 3'000'000, 3'900'000}) {
    SimulatedSpeed slow = threads(2, 1e6);
    SimulatedSpeed fast = threads(2, 3e6);
    slow.name = "slow";
    slow.heavyFrom = fast.heavyFrom = heavyFrom;
    EXPECT_GE(partOfTheSum(slow, fast, {4000, 1000}), 0.98) << heavyFrom;
    SimulatedSpeed device = card(1e7);
    device.heavyFrom = heavyFrom;
    EXPECT_GE(partOfTheSum(slow, device, {4000, 1000}), 0.95) << heavyFrom;
  }
}

TEST(DemandOfDevices, ThreadsAndACardReachTheSumOfTheirRates) {
  // Rates of docs/irregular.md: photons in skin, forces of stars, paths in a room, made-up rows; the last are
  // so coarse that a thread has time for one or two pieces.
  EXPECT_GE(partOfTheSum(threads(16, 21'500), card(1.6e7), {20'000, 1000}), 0.98);
  EXPECT_GE(partOfTheSum(threads(16, 21'500), card(1.6e7), {2000, 1000}), 0.96);
  EXPECT_GE(partOfTheSum(threads(16, 16'500), card(7.3e6), {1000, 1000}), 0.95);
  EXPECT_GE(partOfTheSum(threads(16, 21'500), card(2e6), {20'000, 1000}), 0.98);
  EXPECT_GE(partOfTheSum(threads(16, 535'000), card(4e8), {768, 16'384}), 0.93);
  SimulatedSpeed rows = card(3e5);
  rows.width = 1.0;
  EXPECT_GE(partOfTheSum(threads(16, 1000), rows, {512, 8}), 0.91);
}

TEST(DemandOfDevices, WhatAPieceTakesAThreadIsFoundOutByOneOfThem) {
  // A piece takes a thread 16 ms, and the card all 768 of them 31 ms.
  const Outcome outcome = run({threads(32, 1e6), card(4e8)}, {768, 16'384});
  const TaskSpan* first = nullptr;
  for (const TaskSpan& task : outcome.tasks) {
    if (task.device != 0) continue;
    if (first == nullptr || task.begin < first->begin) first = &task;
  }
  ASSERT_NE(first, nullptr);
  for (const TaskSpan& task : outcome.tasks) {
    if (task.device == 0 && &task != first) EXPECT_GE(task.begin, first->end);
  }
}

TEST(DemandOfDevices, FinePiecesKeepTheSumWhereThreadsAreSlowerBesideEachOther) {
  // A product of 12,288: four rows of it take a thread 0.6 s alone, and the card all of them 1.3 s. A thread
  // that computes beside 14 others takes longer than the one that found out.
  SimulatedSpeed rows = card(3.55e6);
  rows.width = 16'896.0;
  for (const double crowded : {1.0, 0.7, 0.5}) {
    SimulatedSpeed host = threads(15, 2560);
    host.crowded = crowded;
    EXPECT_GE(partOfTheSum(host, rows, {3072 * 24, 64}), 0.98) << crowded;
  }
  SimulatedSpeed host = threads(15, 2560);
  host.crowded = 0.5;
  EXPECT_LE(partOfTheSum(host, rows, {3072, 1536}), 0.8) << "rows as a whole";
}

TEST(DemandOfDevices, ACardThatIsSlowAtFirstGetsItsShareAfterwards) {
  EXPECT_GE(partOfTheSum(threads(16, 21'500), card(1.6e7, 0.1), {20'000, 1000}), 0.97);
}

TEST(DemandOfDevices, TwoCardsShareThoughTheFasterOneIsSlowAtFirst) {
  SimulatedSpeed slow = card(5e6);
  slow.name = "slow";
  EXPECT_GE(partOfTheSum(slow, card(1.5e7), {8000, 1000}), 0.96);
  EXPECT_GE(partOfTheSum(slow, card(1.5e7, 0.1), {8000, 1000}), 0.93);
  EXPECT_GE(partOfTheSum(slow, card(1.5e7, 0.2), {8000, 1000}), 0.87);  // half of the time, it is loaded
}

TEST(DemandOfDevices, TheComparisonOfFormsCostsFewPercent) {
  SimulatedSpeed device = card(1.6e7);
  const std::vector<double> rates{0.92, 1.0, 0.66, 0.16};
  std::ranges::copy(rates, device.form);
  const Load load{20'000, 1000, kAll};
  EXPECT_GE(partOfTheSum(threads(16, 21'500), device, load), 0.97);
  const Outcome outcome = run({device}, load);
  EXPECT_EQ(outcome.report.shares[0].form, JobForm::Consumer);
  EXPECT_LE(outcome.report.seconds, 1.1 * run({device}, {20'000, 1000, {JobForm::Consumer}}).report.seconds);
}

TEST(DemandOfDevices, AFormIsComparedByTasksThatFillTheCardAndRunAlone) {
  // Measured once: with few units the form was chosen that is slower with many.
  SimulatedSpeed device = card(7.3e6);
  const std::vector<double> rates{1.0, 0.93, 0.76, 0.68};
  std::ranges::copy(rates, device.form);
  device.fewUnits = 40'000.0;
  device.formOfFew[static_cast<std::size_t>(JobForm::ConsumerProducer)] = 1.9;
  const Outcome outcome = run({device, threads(16, 16'500)}, {8000, 1000, kAll});
  EXPECT_EQ(outcome.report.shares[0].form, JobForm::Regular);
  double end = 0.0;
  std::map<JobForm, int> tasks;
  for (const TaskSpan& task : outcome.tasks) {
    if (task.device != 0) continue;
    if (task.form == JobForm::Regular && tasks[task.form] == 3) break;  // the choice is made
    EXPECT_GE(task.begin, end);
    end = task.end;
    ++tasks[task.form];
  }
  for (const JobForm form : kAll) EXPECT_GE(tasks[form], 2) << formText(form);
}

}  // namespace
}  // namespace tessera::jobs
