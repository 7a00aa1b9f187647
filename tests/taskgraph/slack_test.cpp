#include <map>

#include <gtest/gtest.h>

#include "datawarehouse/task_context.hpp"
#include "tests/taskgraph/plan_rig.hpp"

namespace tessera {
namespace {

using test::NoBody;

/// Slack of each task of a graph, by its name.
std::map<std::string, int> slackOf(const CompiledGraph& graph) {
  std::map<std::string, int> slack;
  for (const NodeBlock& block : graph.blocks) {
    if (block.kind != NodeKind::Task) continue;
    const TaskUnit& unit = graph.units[static_cast<std::size_t>(block.item)];
    slack[graph.plan->tasks()[static_cast<std::size_t>(unit.task)].name] = block.slack;
  }
  return slack;
}

TEST(Slack, IsNoughtOnTheLongestChainAndWhatIsLeftBesideIt) {
  LabelTable labels;
  const auto a = labels.variable<double, Cell>("a");
  const auto b = labels.variable<double, Cell>("b");
  const auto c = labels.variable<double, Cell>("c");
  const auto d = labels.variable<double, Cell>("d");
  StepPlan plan("plan");
  // first -> second -> third -> fourth, and second -> beside; alone depends on nothing.
  plan.task("T::alone").writes(d).runs<Cpu>(NoBody{});
  plan.task("T::first").writes(a).runs<Cpu>(NoBody{});
  plan.task("T::second").reads(New, a).writes(b).runs<Cpu>(NoBody{});
  plan.task("T::beside").reads(New, b).runs<Cpu>(NoBody{});
  plan.task("T::third").reads(New, b).writes(c).runs<Cpu>(NoBody{});
  plan.task("T::fourth").reads(New, c).runs<Cpu>(NoBody{});
  const auto mesh = test::mesh({4, 1, 1}, {2, 1, 1}, {true, true, true});
  const RankMap owners = distribute(*mesh, 1);

  // Where variables share memory, that orders more.
  const CompiledGraph graph =
      test::compileAllRanks({&plan}, mesh, labels, owners, 1, BufferReuse::Off).front().plans[0];

  EXPECT_EQ(graph.longestWay, 3);
  EXPECT_EQ(slackOf(graph), (std::map<std::string, int>{{"T::first", 0},
                                                        {"T::second", 0},
                                                        {"T::third", 0},
                                                        {"T::fourth", 0},
                                                        {"T::beside", 1},
                                                        {"T::alone", 3}}));
}

}  // namespace
}  // namespace tessera
