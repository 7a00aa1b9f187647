#include "tools/bench/taskbench/task_body.hpp"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "tools/bench/taskbench/pattern_graph.hpp"
#include "tools/bench/taskbench/sweep.hpp"

namespace tessera::bench {
namespace {

std::vector<std::unique_ptr<ReplaySystem>> noPeers(const ReplayGraph&, TaskCall, int) { return {}; }

/// Small patterns of every kind; wide enough that no edge is implied by chance.
std::vector<Pattern> smallPatterns() {
  std::vector<Pattern> patterns;
  for (const std::string& name : patternNames())
    patterns.push_back(
        {.kind = patternOf(name), .width = 4, .steps = 7, .radix = 2, .period = 2, .fraction = 0.5});
  return patterns;
}

using Edge = std::pair<std::int32_t, std::int32_t>;

std::vector<Edge> edgesOf(const ReplayGraph& graph) {
  std::vector<Edge> edges;
  for (std::int32_t node = 0; node < graph.tasks(); ++node) {
    for (const std::int32_t next : graph.successors.of(node)) edges.push_back({node, next});
  }
  return edges;
}

/// All nodes in an order that `edges` allow, in which `early` comes as soon as they let it.
std::vector<std::int32_t> earliest(std::int32_t early, std::int32_t tasks, const std::vector<Edge>& edges) {
  std::vector<bool> needed(static_cast<std::size_t>(tasks), false);
  needed[static_cast<std::size_t>(early)] = true;
  for (std::int32_t node = tasks - 1; node >= 0; --node) {
    for (const auto& [from, to] : edges) {
      if (from == node && needed[static_cast<std::size_t>(to)]) needed[static_cast<std::size_t>(node)] = true;
    }
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(tasks));
  std::iota(order.begin(), order.end(), 0);  // every edge leads to a larger number
  std::stable_partition(order.begin(), order.end(),
                        [&](std::int32_t node) { return needed[static_cast<std::size_t>(node)]; });
  return order;
}

std::string faultOf(TaskBody& body, const std::vector<std::int32_t>& order) {
  body.reset();
  for (const std::int32_t node : order) body.run(node);
  return body.fault();
}

TEST(TaskBody, FindsNoFaultInAnyOrderThatTheGraphAllows) {
  for (const Pattern& pattern : smallPatterns()) {
    const ReplayGraph graph = graphOf(pattern);
    TaskBody body(graph, {.kind = KernelKind::Empty}, true);
    const std::vector<Edge> edges = edgesOf(graph);
    const auto tasks = static_cast<std::int32_t>(graph.tasks());
    for (std::int32_t node = 0; node < tasks; ++node)
      EXPECT_EQ(faultOf(body, earliest(node, tasks, edges)), "") << nameOf(pattern.kind) << ", node " << node;
  }
}

TEST(TaskBody, FindsEverySingleEdgeThatIsMissing) {
  for (const Pattern& pattern : smallPatterns()) {
    const ReplayGraph graph = graphOf(pattern);
    TaskBody body(graph, {.kind = KernelKind::Empty}, true);
    const std::vector<Edge> edges = edgesOf(graph);
    const auto tasks = static_cast<std::int32_t>(graph.tasks());
    for (std::size_t e = 0; e < edges.size(); ++e) {
      std::vector<Edge> others = edges;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(e));
      EXPECT_NE(faultOf(body, earliest(edges[e].second, tasks, others)), "")
          << nameOf(pattern.kind) << ", edge " << edges[e].first << " -> " << edges[e].second;
    }
  }
}

TEST(TaskBody, SaysWhoFoundWhatInsteadOfWhat) {
  const ReplayGraph graph = graphOf({.kind = PatternKind::Stencil1d, .width = 2, .steps = 3});
  TaskBody body(graph, {.kind = KernelKind::Empty}, true);

  // (1, 0) reads (0, 0) and (0, 1), but runs before the second.
  EXPECT_EQ(faultOf(body, {0, 2, 1, 3, 4, 5}),
            "task (step 1, column 0) found the output of nobody where that of (step 0, column 1) should be");
}

TEST(TaskBody, ATaskThatNeverRunsOrRunsTwiceIsAFault) {
  const ReplayGraph graph = graphOf({.kind = PatternKind::Trivial, .width = 2, .steps = 1});
  TaskBody body(graph, {.kind = KernelKind::Empty}, true);

  EXPECT_EQ(faultOf(body, {0}), "1 tasks have run of 2");
  EXPECT_NE(faultOf(body, {0, 1, 1}), "");
}

TEST(TaskBody, OutputsAreNotOverwrittenBeforeTheirReadersHaveRun) {
  // Column 1 of a wave reads 0 and 1; nothing but the slot makes (2, 0) wait for (1, 1).
  const ReplayGraph graph = graphOf({.kind = PatternKind::Dom, .width = 3, .steps = 5});
  const auto waiters = graph.successors.of(2);  // (1, 1), after (0, 0) and (1, 0)

  EXPECT_NE(std::find(waiters.begin(), waiters.end(), 3), waiters.end());  // (2, 0)
}

TEST(TaskBody, ImbalancedTasksDifferAndAddUpToWhatIsSaid) {
  const ReplayGraph graph = graphOf({.kind = PatternKind::NoComm, .width = 50, .steps = 100});
  TaskBody body(graph, {.kind = KernelKind::Imbalanced, .iterations = 1000, .imbalance = 2.0}, false);

  EXPECT_NEAR(body.work() / (1000.0 * 5000.0), 1.0, 0.03);
  body.setIterations(0);
  EXPECT_EQ(body.work(), 0.0);
}

TEST(TaskBody, WorkersFindNoFaultInAnyPatternWithAnyKernel) {
  for (Pattern pattern : smallPatterns()) {
    pattern.width = 16;
    pattern.steps = 30;
    for (const KernelKind kernel :
         {KernelKind::Empty, KernelKind::Compute, KernelKind::Memory, KernelKind::Imbalanced}) {
      for (const int threads : {1, 2, 3}) {
        const SweepRequest request{.pattern = pattern,
                                   .kernel = {.kind = kernel, .scratchBytes = 1024},
                                   .lengths = {20, 0},
                                   .threads = threads,
                                   .sweeps = 2,
                                   .check = true};
        const std::vector<SweepResult> results = runSweeps(request, noPeers);
        ASSERT_EQ(results.size(), 1U);
        EXPECT_EQ(peakOf(results) > 0.0, kernel != KernelKind::Empty) << nameOf(pattern.kind);
      }
    }
  }
}

std::string bodyRefusal(const Kernel& kernel) {
  try {
    expectValid(kernel);
  } catch (const UsageError& error) {
    return error.message();
  }
  return "accepted";
}

TEST(TaskBody, KernelsThatMakeNoSenseAreRefusedWithAFix) {
  using testing::HasSubstr;
  EXPECT_THAT(bodyRefusal({.imbalance = 3.0}), HasSubstr("write --imbalance 1"));
  EXPECT_THAT(bodyRefusal({.scratchBytes = 8}), HasSubstr("write --scratch 262144"));
  EXPECT_THAT(bodyRefusal({.iterations = -1}), HasSubstr("write --iter 0 or more"));
  EXPECT_EQ(bodyRefusal({}), "accepted");
  EXPECT_THROW(kernelOf("compote"), UsageError);
}

}  // namespace
}  // namespace tessera::bench
