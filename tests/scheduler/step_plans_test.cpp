#include <deque>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

// Step plans over the same data: "flow" moves u by its neighbours and a source q, "radiation" computes a new
// q from u over the whole level, "dye" a new d from the u and the q of the moment. Whatever the order of the
// steps and the parts that they have, the bits have to be those of graphs and memory made afresh for each
// step.
namespace tessera {
namespace {

using test::RunShape;
using Bytes = std::vector<std::byte>;

class TwoPlans {
 public:
  TwoPlans() {
    Geometry geometry;
    geometry.cells = {12, 8, 1};
    geometry.periodic = {true, false, false};
    hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {3, 2, 1}});
    u_ = labels_.variable<double, Cell>("u");
    q_ = labels_.variable<double, Cell>("q");
    d_ = labels_.variable<double, Cell>("d");
    labels_.setBoundary(d_, BoundaryConditions::everywhere(BoundaryKind::Neumann));
    labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    declareInitial();
    StepPlan declared("step");
    declareSteps(declared);
    declareDye(declared);
    for (const PartsOfStep& parts : {PartsOfStep{}, {"radiation"}, {"dye"}, {"dye", "radiation"}}) {
      plans_.emplace_back("flow");
      for (const TaskDeclaration& task : declared.tasks()) {
        if (task.plans.empty() || std::count(parts.begin(), parts.end(), task.plans.front()) > 0)
          plans_.back().add(task);
      }
    }
  }

  /// The state of rank 0's patches after the plans of `order`, each compiled once.
  std::vector<Bytes> runCached(const std::vector<std::size_t>& order, const RunShape& shape) const {
    std::vector<Bytes> state;
    test::runOnRanks(shape, hierarchy_, labels_, plans(),
                     [&](StepRunner& runner, DataWarehouse& data, Transport& transport) {
                       runner.run(0, {0.0, 0.0, 0, {}});
                       for (std::size_t s = 0; s < order.size(); ++s)
                         runner.run(order[s], {0.0, 0.1, static_cast<std::int64_t>(s), {}});
                       if (transport.rank() == 0) state = take(data);
                     });
    return state;
  }

  /// The same with new graphs, memory and runner for each step; only the Old values are handed on.
  std::vector<Bytes> runAfresh(const std::vector<std::size_t>& order, int ranks) const {
    std::vector<std::vector<Bytes>> states(static_cast<std::size_t>(ranks));
    for (std::size_t s = 0; s <= order.size(); ++s) {
      test::runOnRanks(
          {ranks, 0, false, {}}, hierarchy_, labels_, plans(),
          [&](StepRunner& runner, DataWarehouse& data, Transport& transport) {
            auto& state = states[static_cast<std::size_t>(transport.rank())];
            if (s > 0) give(data, state);
            runner.run(s == 0 ? 0 : order[s - 1], {0.0, 0.1, static_cast<std::int64_t>(s) - 1, {}});
            state = take(data);
          });
    }
    return states[0];
  }

 private:
  using PartsOfStep = std::vector<std::string>;

  std::vector<const StepPlan*> plans() const {
    std::vector<const StepPlan*> plans{&initial_};
    for (const StepPlan& plan : plans_) plans.push_back(&plan);
    return plans;
  }

  void declareInitial() {
    TaskBuilder initial = initial_.task("Two::initial");
    initial.writes(u_).writes(q_).writes(d_).runs<Cpu>([u = u_, q = q_, d = d_](const auto& task) {
      const auto outU = task.write(u);
      const auto outQ = task.write(q);
      const auto outD = task.write(d);
      forEach(task.exec(), "initial", task.interior(), [=](Index x) {
        outU(x) = 1.0 / static_cast<double>(1 + x.i + 13 * x.j);
        outQ(x) = 0.5;
        outD(x) = 0.25 * static_cast<double>(x.i);
      });
    });
  }

  void declareSteps(StepPlan& step) {
    step.task("Two::flow")
        .reads(Old, u_, halo(1))
        .reads(Old, q_)
        .writes(u_)
        .runs<Cpu>([u = u_, q = q_](const auto& task) {
          const auto in = task.read(Old, u);
          const auto source = task.read(Old, q);
          const auto out = task.write(u);
          const double dt = task.dt();
          forEach(task.exec(), "flow", task.interior(), [=](Index x) {
            out(x) = in(x) + dt * (in(x - ex) + in(x + ey) - 2.0 * in(x) + source(x));
          });
        });
    step.task("Two::radiate")
        .in("radiation")
        .reads(New, u_, wholeLevel())
        .reads(Old, q_)
        .writes(q_)
        .runs<Cpu>([u = u_, q = q_](const auto& task) {
          const auto all = task.readLevel(New, u);
          const auto old = task.read(Old, q);
          const auto out = task.write(q);
          const Box domain = task.level().domain();
          const double sum = reduce(task.exec(), "sum", domain, Sum, [=](Index x) { return all(x); }).value();
          forEach(task.exec(), "radiate", task.interior(),
                  [=](Index x) { out(x) = 0.25 * old(x) + all(x) / (1.0 + sum * sum); });
        });
  }

  /// After the flow, and before the radiation of the step.
  void declareDye(StepPlan& step) {
    step.task("Two::dye")
        .in("dye")
        .reads(New, u_)
        .reads(Old, q_)
        .reads(Old, d_, halo(2))
        .writes(d_)
        .runs<Cpu>([u = u_, q = q_, d = d_](const auto& task) {
          const auto flow = task.read(New, u);
          const auto source = task.read(Old, q);
          const auto in = task.read(Old, d);
          const auto out = task.write(d);
          forEach(task.exec(), "dye", task.interior(),
                  [=](Index x) { out(x) = 0.5 * (in(x - ex - ex) + in(x + ey)) + flow(x) * source(x); });
        });
  }

  std::vector<Bytes> take(const DataWarehouse& data) const {
    std::vector<Bytes> state;
    for (const LabelId label : {u_.id, q_.id, d_.id}) {
      for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
        state.emplace_back(static_cast<std::size_t>(data.ownedBox(label, local).volume()) * sizeof(double));
        data.packOwned(label, local, state.back());
      }
    }
    return state;
  }
  void give(DataWarehouse& data, const std::vector<Bytes>& state) const {
    std::size_t n = 0;
    for (const LabelId label : {u_.id, q_.id, d_.id}) {
      for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
        data.unpackOwned(label, local, state[n++]);
    }
  }

  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable labels_;
  Label<double, Cell> u_;
  Label<double, Cell> q_;
  Label<double, Cell> d_;
  StepPlan initial_{"initial"};
  std::deque<StepPlan> plans_;
};

constexpr std::size_t kFlow = 1;
constexpr std::size_t kBoth = 2;
constexpr std::size_t kSets = 4;  ///< with the dye, and with both

TEST(StepPlans, AnyOrderGivesTheBitsOfPlansCompiledAfresh) {
  const TwoPlans two;
  std::vector<std::vector<std::size_t>> orders{
      {kFlow, kBoth}, {kBoth, kFlow}, {kBoth, kBoth, kFlow, kFlow, kBoth}, {kFlow, kFlow, kFlow}};
  std::mt19937 random(7);
  for (int n = 0; n < 6; ++n) {
    orders.emplace_back();
    for (int s = 0; s < 12; ++s) orders.back().push_back(kFlow + random() % kSets);
  }
  for (const auto& order : orders) {
    std::string text;
    for (const std::size_t plan : order) text += "ABCD"[plan - kFlow];
    SCOPED_TRACE("plans " + text);
    for (const int ranks : {1, 3}) {
      const std::vector<Bytes> expected = two.runAfresh(order, ranks);
      EXPECT_EQ(two.runCached(order, {ranks, 0, false, {}}), expected);
      EXPECT_EQ(two.runCached(order, {ranks, 2, false, 11}), expected);
      EXPECT_EQ(two.runCached(order, {ranks, 0, true, {}}), expected);
    }
  }
}

TEST(StepPlans, ThePlanMatters) {
  const TwoPlans two;

  EXPECT_NE(two.runCached({kFlow, kBoth}, {}), two.runCached({kBoth, kFlow}, {}));
}

TEST(StepPlans, ALevelThatAPlanDoesNotWriteKeepsItsOldValue) {
  Geometry geometry;
  geometry.cells = {4, 4, 1};
  const auto mesh = refinedHierarchy(geometry, {Division::By::Patches, {2, 1, 1}},
                                     {{2, {Box{{1, 1, 0}, {3, 3, 1}}}, {16, 16, 16}}});
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto put = [u](double value) {
    return [u, value](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "put", task.interior(), [=](Index x) { out(x) = value; });
    };
  };
  StepPlan initial("initial");
  StepPlan step("step");
  StepPlan look("look");
  const ReductionLabel least = labels.reduction("least");
  initial.task("T::all").writes(u).runs<Cpu>(put(1.0));
  step.task("T::finest").on(finestLevel()).writes(u).runs<Cpu>(put(2.0));
  look.task("T::look").on(0).reads(Old, u).contributes(least, Min).runs<Cpu>([u, least](const auto& task) {
    const auto in = task.read(Old, u);
    task.contribute(least, reduce(task.exec(), "look", task.interior(), Min, [=](Index x) { return in(x); }));
  });

  test::runOnRanks({}, mesh, labels, {&initial, &step, &look},
                   [&](StepRunner& runner, DataWarehouse&, Transport&) {
                     runner.run(0, {});
                     for (int n = 0; n < 3; ++n) {
                       runner.run(1, {});
                       EXPECT_EQ(runner.run(2, {}).reductions[0], 1.0);
                     }
                   });
}

TEST(StepPlans, ASelectionHasTheTasksWithoutAClauseAndThoseThatNameIt) {
  StepPlan declared("step");
  declared.task("T::always");
  declared.task("T::sometimes").in("b", "c");
  declared.task("T::usually").in("step");
  const auto names = [&](const char* plan) {
    std::string text;
    const StepPlan chosen = declared.selection(plan);
    for (const TaskDeclaration& task : chosen.tasks()) text += task.name + " ";
    return text;
  };

  EXPECT_EQ(names("step"), "T::always T::usually ");
  EXPECT_EQ(names("b"), "T::always T::sometimes ");
  EXPECT_EQ(names("c"), "T::always T::sometimes ");
}

}  // namespace
}  // namespace tessera
