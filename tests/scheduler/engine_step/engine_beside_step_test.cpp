// A step whose tasks run on a device while others of it feed an engine; on a GPU both share it.
#include <mutex>

#include <gtest/gtest.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine_step/runs_engine.hpp"
#include "tests/scheduler/device/device_rig.hpp"
#include "tests/scheduler/engine_step/copy_bodies_kernels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

using engine::Engine;
using engine::EngineBatch;
using engine::VectorAdd;

class EngineBesideStep : public OnEachDevice {
 protected:
  /// A few multiprocessors of a GPU, whose others run the patches.
  static std::shared_ptr<Engine> makeEngine() {
    engine::EngineOptions options;
    options.form = isCuda() ? engine::EngineForm::Cuda : engine::EngineForm::Threads;
    options.threads = 2;
    options.multiprocessors = 8;
    options.capacity = 256;
    options.memoryBytes = 8 << 20;
    return std::make_shared<Engine>(engine::shippedProgram(), options);
  }

  /// b = a by the device; the next a is b(x - ex) + b(x + ey), by the engine or, without one, by a loop.
  /// Gives the sum of i times a after some steps.
  static double sumAfterSteps(const RunShape& shape, const std::shared_ptr<Engine>& engine) {
    Geometry geometry;
    geometry.cells = {16, 12, 1};
    geometry.periodic = {true, true, true};
    LabelTable labels;
    const auto a = labels.variable<double, Cell>("a");
    const auto b = labels.variable<double, Cell>("b");
    const auto total = labels.reduction("total");
    StepPlan initial("initial");
    initial.task("Test::initial").writes(a).runs<Cpu>([=](const auto& task) {
      const auto out = task.write(a);
      forEach(task.exec(), "initial", task.interior(),
              [=](Index x) { out(x) = static_cast<double>(x.i + 16 * x.j); });
    });
    StepPlan step("step");
    step.task("Test::copy").reads(Old, a).writes(b).runs(copyBody(a, b));
    TaskBuilder advance = step.task("Test::advance");
    advance.reads(New, b, halo(1)).writes(a);
    if (engine) {
      advance.runs<Engine>(engine, [=](const auto& task, EngineBatch& batch) {
        const auto in = task.read(New, b);
        const auto out = task.write(a);
        const Box box = task.interior();
        const auto n = static_cast<std::size_t>(box.hi.i - box.lo.i);
        for (Index x = box.lo; x.j < box.hi.j; ++x.j) {
          batch.add<VectorAdd>({batch.input(std::span(&in(x - ex), n)),
                                batch.input(std::span(&in(x + ey), n)), batch.output(std::span(&out(x), n)),
                                static_cast<std::int64_t>(n)});
        }
      });
    } else {
      advance.runs<Cpu>([=](const auto& task) {
        const auto in = task.read(New, b);
        const auto out = task.write(a);
        forEach(task.exec(), "advance", task.interior(), [=](Index x) { out(x) = in(x - ex) + in(x + ey); });
      });
    }
    step.task("Test::sum").reads(New, a).contributes(total, Sum).runs<Cpu>([=](const auto& task) {
      const auto in = task.read(New, a);
      task.contribute(total, reduce(task.exec(), "sum", task.interior(), Sum,
                                    [=](Index x) { return static_cast<double>(x.i) * in(x); }));
    });
    double sum = 0.0;
    std::mutex mutex;
    runOnRanks(shape, Hierarchy::uniform(geometry, {Division::By::Patches, {2, 3, 1}}), labels,
               {&initial, &step}, [&](StepRunner& runner, DataWarehouse&, Transport&) {
                 runner.run(0, {});
                 double last = 0.0;
                 for (std::int64_t n = 0; n < 4; ++n) last = runner.run(1, {0.0, 1.0, n, {}}).reductions[0];
                 const std::lock_guard<std::mutex> lock(mutex);
                 sum = last;
               });
    return sum;
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, EngineBesideStep, testing::ValuesIn(deviceKinds()),
                         [](const auto& info) { return info.param; });

TEST_P(EngineBesideStep, AStepOnADeviceThatFeedsAnEngineHasTheBitsOfTheHost) {
  const double expected = sumAfterSteps({}, nullptr);
  ASSERT_GT(expected, 0.0);
  for (const int threads : {0, 2}) {
    RunShape shape;
    shape.threads = threads;
    shape.devices.kind = isCuda() ? DeviceKind::Cuda : DeviceKind::Emulated;
    shape.devices.standbyThread = threads > 0;
    // Once without an engine, so that a GPU has loaded the kernels before there is one.
    EXPECT_EQ(sumAfterSteps(shape, nullptr), expected);
    EXPECT_EQ(sumAfterSteps(shape, makeEngine()), expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace tessera::test
