// Variables with components, and conditions that a component codes.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/moves/coded_condition.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Hierarchy> square(Extent patches) {
  Geometry geometry;
  geometry.cells = {8, 6, 1};
  return Hierarchy::uniform(geometry, {Division::By::Patches, patches});
}

/// Fills both components with numbers that tell the index.
void declareWrite(StepPlan& plan, Label<Components<double>, Cell> u) {
  plan.task("Test::write").writes(u).runs<Cpu>([=](const auto& task) {
    const auto out = task.write(u);
    for (std::int32_t c = 0; c < out.count(); ++c) {
      const auto one = out[c];
      forEach(task.exec(), "w", task.interior(),
              [=](Index x) { one(x) = static_cast<double>(100 * c + 10 * x.j + x.i); });
    }
  });
}

/// Beyond x_low: the first component mirrored and moved by the time, the second one from the first at the
/// edge.
struct Slope {
  template <class Fields>
  TESSERA_KERNEL void operator()(const HaloPoint& p, const Fields& u) const {
    u[0](p.x) = u[0](p.mirrored) + p.time;
    u[1](p.x) = u[0](p.edge) * p.position.x;
  }
};

TEST(CodedCondition, IsCarriedOutAtEachIndexOfTheHalo) {
  for (const int ranks : {1, 3}) {
    for (const bool checked : {false, true}) {
      LabelTable labels;
      const auto u = labels.components<double, Cell>("u", 2);
      const auto wrong = labels.reduction("wrong");
      labels.setBoundary(u, BoundaryConditions::everywhere(BoundaryKind::Outflow));
      labels.setBoundary(u, sideOf(0, false), codedCondition<Cpu>(u, Slope{}));
      StepPlan plan("initial");
      declareWrite(plan, u);
      plan.task("Test::look").reads(New, u, halo(2)).contributes(wrong, Sum).runs<Cpu>([=](const auto& task) {
        const auto in = task.read(New, u);
        ExactSum differing;
        for (std::int64_t j = task.interior().lo.j; j < task.interior().hi.j; ++j) {
          for (std::int64_t i = -2; i < 0 && task.interior().lo.i == 0; ++i) {
            const double mirrored = static_cast<double>(10 * j - 1 - i);
            const double edge = static_cast<double>(10 * j);
            differing.add(in[0]({i, j, 0}) == mirrored + 0.75 ? 0.0 : 1.0);
            differing.add(in[1]({i, j, 0}) == edge * (static_cast<double>(i) + 0.5) / 8.0 ? 0.0 : 1.0);
          }
        }
        task.contribute(wrong, differing);
      });
      test::runOnRanks({ranks, 0, checked, {}}, square({3, 2, 1}), labels, {&plan},
                       [&](StepRunner& runner, DataWarehouse&, Transport&) {
                         EXPECT_EQ(runner.run(0, {0.5, 0.25, 0, {}}).reductions[0], 0.0);
                       });
    }
  }
}

/// What a run in checked mode says of a body.
template <class Body>
std::string faultOf(const Body& body, bool checked = true) {
  LabelTable labels;
  const auto u = labels.components<double, Cell>("gas", {{"density", "kg/m^3"}, {"pressure", "Pa"}});
  StepPlan plan("initial");
  plan.task("Test::faulty").writes(u).template runs<Cpu>([=](const auto& task) {
    body(task, task.write(u));
  });
  try {
    test::runOnRanks({1, 0, checked, {}}, square({1, 1, 1}), labels, {&plan},
                     [&](StepRunner& runner, DataWarehouse&, Transport&) { runner.run(0, {}); });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ComponentVariable, FaultsNameTheComponent) {
  EXPECT_THAT(faultOf([](const auto& task, const auto& out) {
                forEach(task.exec(), "w", task.interior(), [=](Index x) { out[2](x) = 0.0; });
              }),
              AllOf(HasSubstr("uses      gas[2]"), HasSubstr("use components 0 to 1")));
  EXPECT_THAT(faultOf([](const auto& task, const auto& out) {
                forEach(task.exec(), "w", task.interior(), [=](Index x) {
                  out[0](x) = 0.0;
                  if (x.i != 3) out[1](x) = 0.0;
                });
              }),
              HasSubstr("writes    gas.pressure, but not at cell (3, 0, 0)"));
  EXPECT_THAT(faultOf([](const auto& task, const auto& out) {
                forEach(task.exec(), "w", task.interior(), [=](Index x) {
                  out[0](x) = 0.0;
                  out[1](x) = x.j == 2 ? std::sqrt(-1.0) : 0.0;
                });
              }),
              HasSubstr("variable  gas.pressure = "));
}

TEST(ComponentVariable, ANameWithAnotherCountIsAFault) {
  LabelTable labels;
  labels.components<double, Cell>("gas", 3);
  labels.components<double, Cell>("gas", 5);
  ASSERT_EQ(labels.faults().size(), 1U);
  EXPECT_THAT(labels.faults()[0],
              AllOf(HasSubstr("known  3 components of double"), HasSubstr("asked  5 components of double")));
}

}  // namespace
}  // namespace tessera
