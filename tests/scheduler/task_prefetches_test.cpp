// What a task's loops ask memory for is what the next task will use, and not what it has just used.
#include "scheduler/step/task_prefetches.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/rank_map.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera {
namespace {

/// Four patches of 8^3 in a row; a step reads each with a halo of one cell.
class RowOfPatches {
 public:
  RowOfPatches() {
    Geometry geometry;
    geometry.cells = {32, 8, 8};
    mesh_ = Hierarchy::uniform(geometry, {Division::By::PatchSize, {8, 8, 8}});
    labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    initial_.task("Row::initial").writes(u_).runs<Cpu>([](const auto&) {});
    step_.task("Row::step").reads(Old, u_, faceHalo(1)).writes(u_).runs<Cpu>([](const auto&) {});
    const RankMap owners = distribute(*mesh_, 1);
    CompileInput input{mesh_, &labels_, &owners, 0};
    input.scratch.above = 0;
    graphs_ = compileGraphs(std::vector<const StepPlan*>{&initial_, &step_}, input);
    data_ = makeDataWarehouse(graphs_);
    pump_ = std::make_unique<detail::MessagePump>(graphs_.plans[1], world_.transport(0), SendLimit{}, nullptr,
                                                  nullptr);
    moves_ = std::make_unique<detail::HostMoves>(graphs_, 1, *data_, *pump_);
    prefetches_ = std::make_unique<detail::TaskPrefetches>(graphs_, 1, *data_, *moves_, 1);
  }

  /// Of which patches' Old, and of which New, task number `number` asks for lines, when it runs now.
  std::pair<std::set<std::size_t>, std::set<std::size_t>> askedBy(std::int32_t number) {
    const CompiledGraph& graph = graphs_.plans[1];
    const auto block = std::find_if(graph.blocks.begin(), graph.blocks.end(),
                                    [](const NodeBlock& b) { return b.kind == NodeKind::Task; });
    const Patch& patch = mesh_->patch(number);
    Prefetcher* ahead = prefetches_->during(*block, number, &patch, 0);
    std::pair<std::set<std::size_t>, std::set<std::size_t>> asked;
    while (ahead != nullptr && !ahead->empty()) {
      const std::byte* line = ahead->pass();
      for (std::size_t p = 0; p < 4; ++p) {
        if (isOf(Generation::Old, p, line)) asked.first.insert(p);
        if (isOf(Generation::New, p, line)) asked.second.insert(p);
      }
    }
    return asked;
  }

 private:
  bool isOf(Generation generation, std::size_t patch, const std::byte* line) const {
    const std::byte* data = data_->data(generation, u_.id, patch);
    return line >= data && line < data + 8 * data_->layout(u_.id, patch).elements();
  }

  std::shared_ptr<const Hierarchy> mesh_;
  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  CompiledGraphs graphs_;
  LoopbackWorld world_{1};
  std::unique_ptr<DataWarehouse> data_;
  std::unique_ptr<detail::MessagePump> pump_;
  std::unique_ptr<detail::HostMoves> moves_;
  std::unique_ptr<detail::TaskPrefetches> prefetches_;
};

using Asked = std::pair<std::set<std::size_t>, std::set<std::size_t>>;

TEST(TaskPrefetches, AskForTheNextPatchAndItsNeighbourAhead) {
  RowOfPatches row;
  EXPECT_EQ(row.askedBy(0), (Asked{{1, 2}, {1}}));
  EXPECT_EQ(row.askedBy(1), (Asked{{2, 3}, {2}}));
  EXPECT_EQ(row.askedBy(2), (Asked{{3}, {3}}));
  EXPECT_EQ(row.askedBy(3), Asked{});
}

TEST(TaskPrefetches, FollowAWorkerThatGoesDownwards) {
  RowOfPatches row;
  EXPECT_EQ(row.askedBy(3), Asked{});  // upwards, until it is known
  EXPECT_EQ(row.askedBy(2), (Asked{{0, 1}, {1}}));
  EXPECT_EQ(row.askedBy(1), (Asked{{0}, {0}}));
  EXPECT_EQ(row.askedBy(0), Asked{});
}

}  // namespace
}  // namespace tessera
