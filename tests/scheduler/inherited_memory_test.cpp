// The memory of a mesh goes on to the next one: what stays, what is reused, and what may not be touched yet.
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/rank_map.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera {
namespace {

std::shared_ptr<const Hierarchy> lineCutAt(const std::vector<std::int64_t>& cuts) {
  Geometry geometry;
  geometry.cells = {cuts.back(), 1, 1};
  std::vector<Patch> patches;
  for (std::size_t n = 0; n + 1 < cuts.size(); ++n)
    patches.push_back({static_cast<PatchId>(n), 0, Box{{cuts[n], 0, 0}, {cuts[n + 1], 1, 1}}});
  std::vector<Level> levels;
  levels.emplace_back(0, geometry, Box{{}, geometry.cells}, Extent{1, 1, 1}, std::move(patches));
  return std::make_shared<const Hierarchy>(geometry, std::move(levels));
}

/// A variable that is kept, with a halo of one cell, and two stages that share memory.
class Smoothing {
 public:
  Smoothing() {
    u_ = labels_.variable<double, Centering::Cell>("u");
    const auto a = labels_.variable<double, Centering::Cell>("a");
    const auto b = labels_.variable<double, Centering::Cell>("b");
    for (const auto label : {u_, a, b})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    const auto copy = [](auto generation, auto from, auto to) {
      return [=](const auto& task) {
        const auto in = task.read(generation, from);
        const auto out = task.write(to);
        forEach(task.exec(), "copy", task.interior(), [=](Index x) { out(x) = in(x - ex) + in(x + ex); });
      };
    };
    initial_.task("S::initial").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "initial", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
    });
    step_.task("S::a").reads(Old, u_, halo(1)).writes(a).runs<Cpu>(copy(Old, u_, a));
    step_.task("S::b").reads(New, a, halo(1)).writes(b).runs<Cpu>(copy(New, a, b));
    step_.task("S::u").reads(New, b, halo(1)).writes(u_).runs<Cpu>(copy(New, b, u_));
  }

  std::unique_ptr<DataWarehouse> make(const std::vector<std::int64_t>& cuts, Inheritance inheritance = {}) {
    const auto hierarchy = lineCutAt(cuts);
    owners_ = distribute(*hierarchy, 1);
    CompileInput input{hierarchy, &labels_, &owners_, 0};
    input.kept = {u_.id};
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    return makeDataWarehouse(compileGraphs(plans, input), 2, {}, MemoryPieces::CacheLines, inheritance);
  }

  LabelId label() const { return u_.id; }

 private:
  LabelTable labels_;
  Label<double, Centering::Cell> u_;
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
  RankMap owners_;
};

/// Overwrites all memory, as steps would.
void use(DataWarehouse& data) {
  for (const std::span<std::byte> piece : data.memory()) {
    for (std::size_t at = 0; at + sizeof(double) <= piece.size(); at += sizeof(double)) {
      const auto value = static_cast<double>(at);
      std::memcpy(piece.data() + at, &value, sizeof value);
    }
  }
}

std::set<const std::byte*> placesOf(DataWarehouse& data) {
  std::set<const std::byte*> places;
  for (const std::span<std::byte> piece : data.memory()) places.insert(piece.data());
  return places;
}

double firstOf(const DataWarehouse& data, Generation generation, LabelId label, std::size_t local) {
  double value = 0.0;
  std::memcpy(&value, data.data(generation, label, local), sizeof value);
  return value;
}

TEST(InheritedMemory, APatchThatBothMeshesHaveKeepsItsVariablesWhereTheyAre) {
  Smoothing s;
  const auto before = s.make({0, 16, 32, 48, 64});
  use(*before);
  const std::byte* const oldOfFirst = before->data(Old, s.label(), 0);
  const std::byte* const newOfFirst = before->data(New, s.label(), 0);
  const std::byte* const oldOfLast = before->data(Old, s.label(), 3);
  const double value = firstOf(*before, Old, s.label(), 0);

  const auto after = s.make({0, 16, 24, 40, 48, 64}, {before.get(), {}});

  EXPECT_TRUE(after->stays(s.label(), 0));
  EXPECT_TRUE(after->stays(s.label(), 4));
  EXPECT_EQ(after->data(Old, s.label(), 0), oldOfFirst);
  EXPECT_EQ(after->data(New, s.label(), 0), newOfFirst);
  EXPECT_EQ(after->data(Old, s.label(), 4), oldOfLast);
  EXPECT_EQ(firstOf(*after, Old, s.label(), 0), value);
  for (const std::size_t other : {1, 2, 3}) EXPECT_FALSE(after->stays(s.label(), other)) << other;
}

// Patch 1 of 16 cells has gone and another one of 16 cells has come.
TEST(InheritedMemory, WhatAnotherPatchLeavesIsUsedAgainAndHoldsNoNumberOfIt) {
  Smoothing s;
  const auto before = s.make({0, 16, 32, 48, 64});
  use(*before);
  const std::set<const std::byte*> places = placesOf(*before);

  const auto after = s.make({0, 16, 24, 40, 48, 64}, {before.get(), {}});

  for (const Generation g : {Old, New}) {
    EXPECT_EQ(places.count(after->data(g, s.label(), 2)), 1U) << "used again";
    for (const std::size_t local : {1, 2, 3})
      EXPECT_TRUE(std::isnan(firstOf(*after, g, s.label(), local))) << "of patch " << local;
  }
  EXPECT_EQ(after->allocatedBytes(), s.make({0, 16, 24, 40, 48, 64})->allocatedBytes());
}

TEST(InheritedMemory, ValuesThatAreStillNeededStayWhatTheyAre) {
  Smoothing s;
  const auto before = s.make({0, 16, 32, 48, 64});
  use(*before);
  const std::vector<DataWarehouse::OldValues> needed{{s.label(), 1}, {s.label(), 2}};
  const double first = firstOf(*before, Old, s.label(), 1);
  const double second = firstOf(*before, Old, s.label(), 2);

  const auto after = s.make({0, 16, 24, 40, 48, 64}, {before.get(), needed});
  use(*after);

  EXPECT_EQ(firstOf(*before, Old, s.label(), 1), first);
  EXPECT_EQ(firstOf(*before, Old, s.label(), 2), second);
  for (const std::size_t local : {1, 2, 3}) {
    EXPECT_NE(after->data(Old, s.label(), local), before->data(Old, s.label(), 1));
    EXPECT_NE(after->data(Old, s.label(), local), before->data(Old, s.label(), 2));
  }
}

// Down and up again: what is kept for something smaller is not lost count of.
TEST(InheritedMemory, ManyMeshesLeaveNoMoreMemoryThanTheLastOneNeeds) {
  Smoothing s;
  auto data = s.make({0, 16, 32, 48, 64});
  for (const std::vector<std::int64_t>& cuts : {std::vector<std::int64_t>{0, 14, 32, 46, 64},
                                                {0, 15, 30, 45, 64},
                                                {0, 8, 16, 32, 64},
                                                {0, 16, 32, 48, 64}}) {
    auto next = s.make(cuts, {data.get(), {}});
    data = std::move(next);
    use(*data);
    EXPECT_EQ(placesOf(*data).size(), data->memory().size()) << "no memory is given twice";
    EXPECT_EQ(data->allocatedBytes(), s.make(cuts)->allocatedBytes());
  }
}

}  // namespace
}  // namespace tessera
