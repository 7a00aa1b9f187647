// Conditions of the stages of a step hold at the times of the stages.
#include <cmath>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/components/several_devices.hpp"
#include "tests/scheduler/device/level_bodies_kernels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

/// Heat in a rod between walls whose temperature moves, by the third-order Runge-Kutta method of Shu and
/// Osher: its stages are at 0, 1 and 1/2 of the step.
class Rod {
 public:
  enum class Stages { HaveTimes, AreAtTheEnd };

  explicit Rod(Stages stages) {
    BoundaryConditions walls = BoundaryConditions::everywhere(BoundaryKind::Dirichlet);
    for (auto& side : walls.sides) side->value = Expression::parse("sin(3*t)", {}, {"x", "y", "z", "t"});
    for (const auto& label : {u_, first_, second_}) labels_.setBoundary(label, walls);
    if (stages == Stages::HaveTimes) {
      labels_.approximates(first_, u_, 1.0);
      labels_.approximates(second_, u_, 0.5);
    }
    initial_.task("Rod::cold").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "cold", task.interior(),
              [=](Index x) { out(x) = 0.125 * static_cast<double>(x.i); });
    });
    declare("Rod::first", {u_, u_, Old, first_, 0.0});
    declare("Rod::second", {u_, first_, New, second_, 0.75});
    declare("Rod::third", {u_, second_, New, u_, 1.0 / 3.0});
  }

  /// At time 1, after so many steps.
  std::vector<double> run(std::int64_t steps, RunShape shape = {}) {
    std::vector<double> values;
    Geometry geometry;
    geometry.cells = {4, 1, 1};
    const auto mesh = Hierarchy::uniform(geometry, {Division::By::Patches, {2, 1, 1}});
    runOnRanks(shape, mesh, labels_, {&initial_, &step_},
               [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                 runner.run(0, {});
                 const double dt = 1.0 / static_cast<double>(steps);
                 for (std::int64_t n = 0; n < steps; ++n)
                   runner.run(1, {static_cast<double>(n) * dt, dt, n, {}});
                 runner.copyToHost({&u_.id, 1});
                 for (std::size_t local = 0; local < 2; ++local) {
                   std::vector<double> one(2);
                   data.packOwned(u_.id, local, std::as_writable_bytes(std::span(one)));
                   values.insert(values.end(), one.begin(), one.end());
                 }
               });
    return values;
  }
  /// How fast the largest error falls when steps become half as long.
  double order() {
    const std::vector<double> right = run(1024);
    const auto error = [&](std::int64_t steps) {
      const std::vector<double> values = run(steps);
      double most = 0.0;
      for (std::size_t n = 0; n < right.size(); ++n) most = std::max(most, std::abs(values[n] - right[n]));
      return most;
    };
    return std::log2(error(16) / error(32));
  }

 private:
  void declare(const char* name, const HeatStage& stage) {
    TaskBuilder task = step_.task(name);
    task.reads(stage.generation, stage.from, halo(1)).reads(Old, u_).writes(stage.to).runs(heatStage(stage));
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> first_ = labels_.variable<double, Cell>("first");
  Label<double, Cell> second_ = labels_.variable<double, Cell>("second");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

TEST(StageTimes, KeepOrderThreeWithWallsThatMove) {
  EXPECT_NEAR(Rod(Rod::Stages::HaveTimes).order(), 3.0, 0.1);
}

TEST(StageTimes, StagesAtTheEndOfTheStepLoseOrders) { EXPECT_LT(Rod(Rod::Stages::AreAtTheEnd).order(), 1.5); }

TEST(StageTimes, HoldOnDevicesAndInScratchAlike) {
  Rod rod(Rod::Stages::HaveTimes);
  const std::vector<double> right = rod.run(8);
  for (const bool graphs : {false, true}) {
    RunShape shape;
    shape.threads = 2;
    shape.devices = firstDevices(DeviceKind::Emulated, 1);
    shape.devices.graphs = graphs;
    EXPECT_EQ(rod.run(8, shape), right);
  }
  RunShape shape;
  shape.scratch = true;
  EXPECT_EQ(rod.run(8, shape), right);
}

TEST(StageTimes, AStageThatCannotBeIsASentence) {
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto half = labels.variable<double, Cell>("half");
  labels.approximates(u, u, 0.5);
  labels.approximates(half, u, 1.5);
  labels.approximates(half, u, 0.5);
  labels.approximates(half, u, 0.25);

  ASSERT_EQ(labels.faults().size(), 3U);
  EXPECT_THAT(labels.faults()[0],
              ::testing::HasSubstr("name the stage, and the variable that it stands for"));
  EXPECT_THAT(labels.faults()[1], ::testing::HasSubstr("give a part of the step, from 0 to 1"));
  EXPECT_THAT(labels.faults()[2], ::testing::HasSubstr("say it once for each stage"));
}

}  // namespace
}  // namespace tessera::test
