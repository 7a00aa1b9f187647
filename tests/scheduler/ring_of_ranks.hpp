#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/fault_point.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera::test {

/// A periodic line with a patch on each rank, whose task reads one cell of the next rank's.
class RingOfRanks {
 public:
  explicit RingOfRanks(int ranks) : ranks_(ranks) {
    Geometry geometry;
    geometry.cells = {4 * ranks, 1, 1};
    geometry.periodic = {true, true, true};
    hierarchy_ = Hierarchy::uniform(geometry, {Division::By::Patches, {ranks, 1, 1}});
    owners_ = distribute(*hierarchy_, ranks);
    plan_.task("Test::write").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = 1.0; });
    });
    plan_.task("Test::read").reads(New, u_, halo(0, 1)).runs<Cpu>([](const auto&) {});
  }

  /// One step of this rank; its first message is dropped where it `loses` one. Calls `before` when all is
  /// ready.
  template <class Before>
  void run(Transport& transport, Executor& executor, bool loses, Before&& before) const {
    FaultPlan faults;
    if (loses) faults.add({.point = "scheduler.send"});
    const std::vector<const StepPlan*> plans{&plan_};
    const CompiledGraphs graphs = compileGraphs(
        plans, {hierarchy_, &labels_, &owners_, transport.rank(), ranks_, transport.tagBound()});
    const auto data = makeDataWarehouse(graphs);
    StepRunner runner(graphs, *data, transport, executor, {.faults = &faults});
    before();
    runner.run(0, {});
  }

 private:
  int ranks_;
  std::shared_ptr<const Hierarchy> hierarchy_;
  RankMap owners_;
  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan plan_{"initial"};
};

}  // namespace tessera::test
