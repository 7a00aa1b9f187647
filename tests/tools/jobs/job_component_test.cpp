// A component whose step holds jobs: in a whole run, on ranks and executors, and over a restart.
#include <filesystem>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"
#include "tests/scheduler/jobs_step/walk_task.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/run_checkpoints.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

/// Cells from which walks go out, by jobs of each step.
class Walking final : public Component {
 public:
  explicit Walking(std::shared_ptr<jobs::StepJobs> devices) : devices_(std::move(devices)) {}

  std::string name() const override { return "walking"; }
  std::string summary() const override { return "walks from cells, as jobs"; }
  void declareParameters(ParameterTable&) const override {}
  void configure(const ParameterValues&, ComponentSetup& setup) override {
    u_ = setup.labels.variable<double, Cell>("u");
    sum_ = setup.labels.reduction("walking.sum");
    setup.labels.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  }
  void declareInitial(StepPlan& plan) const override {
    plan.task("Walking::begin").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "begin", task.interior(),
              [=](Index x) { out(x) = static_cast<double>(x.i + 10 * x.j); });
    });
  }
  void declareStep(StepPlan& step) const override {
    TaskBuilder walk = step.task("Walking::walk");
    walk.reads(Old, u_, halo(1)).writes(u_);
    jobs::testing::declareJobs(walk, u_, devices_, {});
  }
  void declareDiagnostics(StepPlan& plan) const override {
    plan.task("Walking::sum")
        .reads(Old, u_)
        .contributes(sum_, Sum)
        .runs<Cpu>([u = u_, sum = sum_](const auto& task) {
          const auto in = task.read(Old, u);
          task.contribute(sum, reduce(task.exec(), "sum", task.interior(), Sum,
                                      [=](Index x) { return static_cast<double>(1 + x.i) * in(x); }));
        });
  }
  std::vector<Diagnostic> diagnostics() const override { return {{"walking.sum", sum_, {}}}; }

 private:
  std::shared_ptr<jobs::StepJobs> devices_;
  Label<double, Cell> u_;
  ReductionLabel sum_;
};

ComponentRegistry walking(int threads, int emulated) {
  ComponentRegistry registry;
  registry.add(
      [devices = jobs::testing::devicesOf(threads, emulated)] { return std::make_unique<Walking>(devices); });
  return registry;
}

Deck deckOf(int steps) {
  return Deck::fromText(
      "simulation.components = ['walking']\n"
      "grid = { cells = [12, 8, 1], patches = [3, 2, 1] }\n"
      "time = { dt = 1, max_steps = " +
          std::to_string(steps) + " }\n",
      "deck.toml");
}

std::vector<double> sumAfter(int steps, const ComponentRegistry& registry, int ranks,
                             SimulationOptions options) {
  std::vector<double> columns;
  std::mutex mutex;
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    Simulation simulation(deckOf(steps), registry, transport, options);
    simulation.run();
    const std::vector<double> mine = simulation.diagnose();
    const std::lock_guard lock(mutex);
    columns = mine;
  });
  return columns;
}

TEST(JobComponent, ARunHasTheBitsOfTheInOrderExecutorOnAnyRanksAndDevices) {
  SimulationOptions inOrder;
  inOrder.executor = ExecutorKind::InOrder;
  const std::vector<double> expected = sumAfter(3, walking(0, 0), 1, inOrder);
  ASSERT_GT(expected.at(0), 0.0);
  EXPECT_EQ(sumAfter(3, walking(2, 0), 2, {}), expected);
  EXPECT_EQ(sumAfter(3, walking(-1, 2), 1, {}), expected);
}

TEST(JobComponent, ARestartGoesOnAsTheUnbrokenRun) {
  const ComponentRegistry registry = walking(1, 1);
  const std::vector<double> unbroken = sumAfter(5, registry, 1, {});
  ASSERT_EQ(unbroken.size(), 1U);
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "job_component_restart";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::path written;
  LoopbackWorld two(2);
  runRanks(two, [&](Transport& transport) {
    Simulation first(deckOf(2), registry, transport, {});
    first.run();
    CheckpointWriter writer(transport, {.folder = folder});
    const CheckpointResult result = writeCheckpoint(writer, first);
    EXPECT_TRUE(result.committed) << result.failure;
    if (transport.rank() == 0) written = result.path;
  });
  const CheckpointReader checkpoint = CheckpointReader::open(written);
  LoopbackWorld three(3);
  runRanks(three, [&](Transport& transport) {
    Simulation second(deckOf(5), registry, transport, {}, checkpoint);
    second.run();
    EXPECT_EQ(second.diagnose(), unbroken);
  });
}

}  // namespace
}  // namespace tessera
