#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grid/refined_levels.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using Bytes = std::vector<std::byte>;

/// Two levels, on which a step smooths u over temporaries of two types, some of which share memory.
class Smoothing {
 public:
  explicit Smoothing(std::int64_t scale = 1) {
    Geometry geometry;
    geometry.cells = {12 * scale, 8 * scale, 1};
    geometry.periodic = {true, false, false};
    mesh_ = refinedHierarchy(geometry, {Division::By::Patches, {3, 2, 1}},
                             {{2, {Box{{2, 2, 0}, {8 * scale, 6 * scale, 1}}}, {6 * scale, 4 * scale, 1}}});
    for (const auto& label : {u_, a_, b_, c_})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    initial_.task("S::initial").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "initial", task.interior(),
              [=](Index x) { out(x) = 1.0 / static_cast<double>(1 + x.i + 13 * x.j); });
    });
    smooth("S::a", Old, u_, a_);
    smooth("S::b", New, a_, b_);
    smooth("S::c", New, b_, c_);
    step_.task("S::mean")
        .reads(New, c_, wholeLevel(0))
        .writes(f_)
        .runs<Cpu>([c = c_, f = f_](const auto& task) {
          const auto all = task.readLevel(New, c, 0);
          const auto out = task.write(f);
          const Box domain = task.hierarchy().level(0).domain();
          const double sum = reduce(task.exec(), "sum", domain, Sum, [=](Index x) { return all(x); }).value();
          forEach(task.exec(), "mean", task.interior(), [=](Index x) { out(x) = static_cast<float>(sum); });
        });
    step_.task("S::u").reads(New, c_).reads(New, f_).writes(u_).runs<Cpu>([=, this](const auto& task) {
      const auto c = task.read(New, c_);
      const auto f = task.read(New, f_);
      const auto out = task.write(u_);
      forEach(task.exec(), "u", task.interior(), [=](Index x) { out(x) = c(x) + 0.01 * f(x); });
    });
  }

  /// u on the patches of rank 0 after three steps.
  std::vector<Bytes> run(const RunShape& shape) const {
    std::vector<Bytes> state;
    test::runOnRanks(shape, mesh_, labels_, {&initial_, &step_},
                     [&](StepRunner& runner, DataWarehouse& data, Transport& transport) {
                       runner.run(0, {});
                       for (int s = 0; s < 3; ++s) runner.run(1, {});
                       if (transport.rank() > 0) return;
                       for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
                         state.emplace_back(static_cast<std::size_t>(data.ownedBox(u_.id, local).volume()) *
                                            sizeof(double));
                         data.packOwned(u_.id, local, state.back());
                       }
                     });
    return state;
  }

  CompiledGraphs compile(BufferReuse reuse) const {
    const RankMap owners = distribute(*mesh_, 1);
    CompileInput input{mesh_, &labels_, &owners};
    input.reuse = reuse;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return compileGraphs(plans, input);
  }

 private:
  void smooth(const char* name, Generation generation, Label<double, Cell> from, Label<double, Cell> to) {
    step_.task(name).reads(generation, from, halo(1)).writes(to).runs<Cpu>([=](const auto& task) {
      const auto in = task.read(generation, from);
      const auto out = task.write(to);
      forEach(task.exec(), "smooth", task.interior(),
              [=](Index x) { out(x) = 0.25 * (in(x - ex) + in(x + ex) + in(x - ey) + in(x + ey)); });
    });
  }

  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  Label<double, Cell> a_ = labels_.variable<double, Cell>("a");
  Label<double, Cell> b_ = labels_.variable<double, Cell>("b");
  Label<double, Cell> c_ = labels_.variable<double, Cell>("c");
  Label<float, Cell> f_ = labels_.variable<float, Cell>("f");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  std::shared_ptr<const Hierarchy> mesh_;
};

TEST(BufferReuse, SharedMemoryChangesNoBit) {
  const Smoothing smoothing;
  for (const int ranks : {1, 3}) {
    RunShape shape{ranks, 0, false, {}, BufferReuse::Off};
    const std::vector<Bytes> expected = smoothing.run(shape);
    shape.reuse = BufferReuse::On;
    shape.kept.emplace();
    for (const int threads : {0, 2}) {
      for (const bool checked : {false, true}) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(threads) + " threads" +
                     (checked ? ", checked" : ""));
        shape.threads = threads;
        shape.checked = checked;
        shape.delaySeed = 5;
        EXPECT_EQ(smoothing.run(shape), expected);
      }
    }
  }
}

TEST(BufferReuse, TheWarehouseAllocatesWhatIsPlanned) {
  const Smoothing smoothing(4);
  const CompiledGraphs with = smoothing.compile(BufferReuse::On);
  const CompiledGraphs without = smoothing.compile(BufferReuse::Off);
  const MemoryPlan plan = memoryPlanOf(with);
  const auto measured = [](const CompiledGraphs& graphs) {
    return static_cast<double>(makeDataWarehouse(graphs)->allocatedBytes());
  };

  EXPECT_LT(plan.total(), plan.totalWithoutReuse());
  // Each allocation is rounded up to 64 bytes.
  EXPECT_NEAR(measured(with) / static_cast<double>(plan.total()), 1.0, 0.02);
  EXPECT_NEAR(measured(without) / static_cast<double>(plan.totalWithoutReuse()), 1.0, 0.02);
}

TEST(BufferReuse, InCheckedModeNothingIsTakenFromTheLastTenant) {
  // w takes over the memory of a, and its task uses what it finds there: not the value of a, but NaN.
  LabelTable labels;
  const auto u = labels.variable<double, Cell>("u");
  const auto a = labels.variable<double, Cell>("a");
  const auto b = labels.variable<double, Cell>("b");
  const auto w = labels.variable<double, Cell>("w");
  const auto put = [](auto label) {
    return [label](const auto& task) {
      const auto out = task.write(label);
      forEach(task.exec(), "put", task.interior(), [=](Index x) { out(x) = 1.0; });
    };
  };
  StepPlan initial("initial");
  StepPlan step("step");
  initial.task("T::initial").writes(u).runs<Cpu>(put(u));
  step.task("T::a").reads(Old, u).writes(a).runs<Cpu>(put(a));
  step.task("T::b").reads(New, a).writes(b).runs<Cpu>(put(b));
  step.task("T::w").reads(New, b).writes(w).runs<Cpu>([w](const auto& task) {
    const auto out = task.write(w);
    out({0, 0, 0}) = out({1, 0, 0});
    out({1, 0, 0}) = 1.0;
  });
  step.task("T::u").reads(New, w).writes(u).runs<Cpu>(put(u));
  Geometry geometry;
  geometry.cells = {2, 1, 1};
  const auto mesh = Hierarchy::uniform(geometry, {Division::By::Patches, {1, 1, 1}});
  RunShape shape;
  shape.checked = true;
  shape.kept.emplace();

  test::runOnRanks(shape, mesh, labels, {&initial, &step},
                   [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                     EXPECT_EQ(data.data(New, a.id, 0), data.data(New, w.id, 0));
                     runner.run(0, {});
                     EXPECT_THROW(runner.run(1, {}), NumericalError);
                   });
}

}  // namespace
}  // namespace tessera
