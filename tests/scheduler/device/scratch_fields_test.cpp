// Fields that a task has for itself while it runs.
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "taskgraph/storage/memory_plan.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/scheduler/device/scratch_bodies_kernels.hpp"
#include "tests/scheduler/runtime_rig.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::shared_ptr<const Hierarchy> plate() {
  Geometry geometry;
  geometry.cells = {12, 9, 1};
  geometry.periodic = {true, true, true};
  return Hierarchy::uniform(geometry, {Division::By::Patches, {3, 2, 1}});
}

class Diverging {
 public:
  Diverging() {
    labels_.u = table_.components<double, Cell>("u", 2);
    labels_.fluxX = table_.components<double, FaceX>("flux_x", 2);
    labels_.fluxY = table_.variable<double, FaceY>("flux_y");
    initial_.task("Test::write").writes(labels_.u).runs<Cpu>([u = labels_.u](const auto& task) {
      const auto out = task.write(u);
      for (std::int32_t c = 0; c < 2; ++c) {
        const auto one = out[c];
        forEach(task.exec(), "w", task.interior(),
                [=](Index x) { one(x) = 1.0 / static_cast<double>(1 + x.i + 7 * x.j + c); });
      }
    });
  }

  void step(TaskBody body, bool scratch) {
    TaskBuilder task = step_.task("Test::diverge");
    task.reads(Old, labels_.u, halo(1)).writes(labels_.u).runs(std::move(body));
    if (scratch) task.scratch(labels_.fluxX).scratch(labels_.fluxY);
  }

  /// By patch, after three steps.
  std::map<PatchId, std::vector<double>> run(const RunShape& shape) {
    std::map<PatchId, std::vector<double>> values;
    std::mutex mutex;
    runOnRanks(shape, plate(), table_, {&initial_, &step_},
               [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                 runner.run(0, {});
                 for (std::int64_t n = 1; n <= 3; ++n)
                   runner.run(1, {0.1 * static_cast<double>(n), 0.1, n, {}});
                 const LabelId u = labels_.u.id;
                 runner.copyToHost({&u, 1});
                 const std::lock_guard lock(mutex);
                 for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
                   std::vector<double>& one = values[data.ownPatches()[local]];
                   one.resize(static_cast<std::size_t>(2 * data.ownedBox(labels_.u.id, local).volume()));
                   data.packOwned(labels_.u.id, local, std::as_writable_bytes(std::span(one)));
                 }
               });
    return values;
  }

  const ScratchLabels& labels() const { return labels_; }
  std::int64_t plannedBytes() const {
    const auto mesh = plate();
    const RankMap owners = distribute(*mesh, 1);
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return memoryPlanOf(compileGraphs(plans, {mesh, &table_, &owners, 0, 1})).taskScratch;
  }

 private:
  LabelTable table_;
  ScratchLabels labels_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

RunShape shapeOf(int ranks, int threads, bool checked) {
  RunShape shape;
  shape.ranks = ranks;
  shape.threads = threads;
  shape.checked = checked;
  return shape;
}

TEST(ScratchFields, GiveTheBitsOfFluxesThatAreComputedTwice) {
  Diverging twice;
  twice.step(divergeTwice(twice.labels()), false);
  const auto expected = twice.run({});
  Diverging scratch;
  scratch.step(divergeByScratch(scratch.labels()), true);
  for (const bool checked : {false, true}) {
    EXPECT_EQ(scratch.run(shapeOf(1, 0, checked)), expected);
    EXPECT_EQ(scratch.run(shapeOf(2, 3, checked)), expected);
    RunShape device = shapeOf(1, 2, checked);
    device.devices = firstDevices(DeviceKind::Emulated, 1);
    EXPECT_EQ(scratch.run(device), expected);
    device.devices.graphs = true;
    EXPECT_EQ(scratch.run(device), expected);
  }
}

TEST(ScratchFields, AreInTheMemoryPlan) {
  Diverging scratch;
  scratch.step(divergeByScratch(scratch.labels()), true);
  // Patches of 4 x 5 cells: 5 x 5 faces of two components in 512 bytes, 4 x 6 in 256.
  EXPECT_EQ(scratch.plannedBytes(), 512 + 256);
}

TEST(ScratchFields, AnUnwrittenReadIsFound) {
  for (const bool onDevice : {false, true}) {
    Diverging scratch;
    scratch.step(readsUnwritten(scratch.labels()), true);
    RunShape shape = shapeOf(1, 0, true);
    if (onDevice) shape.devices = firstDevices(DeviceKind::Emulated, 1);
    try {
      scratch.run(shape);
      FAIL() << "nobody has found it";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("task reads scratch that it has not written"),
                                      HasSubstr("reads     flux_y at face y (0, 5, 0)")));
    }
  }
}

}  // namespace
}  // namespace tessera::test
