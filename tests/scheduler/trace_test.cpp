#include "scheduler/trace.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "tests/scheduler/trace_rig.hpp"

namespace tessera {
namespace {

using test::lineOf;
using test::TraceRig;
using test::TraceShape;

/// u is written on each patch, then read with its neighbours' cells. `work` is what a reader does on top.
struct HaloPlan {
  LabelTable labels;
  StepPlan plan{"initial"};

  explicit HaloPlan(std::function<void(PatchId)> work = [](PatchId) {}) {
    const auto u = labels.variable<double, Cell>("u");
    const auto total = labels.reduction("total");
    plan.task("Test::write").writes(u).runs<Cpu>([u](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
    });
    plan.task("Test::read").reads(New, u, halo(1)).contributes(total, Sum).runs<Cpu>([=](const auto& task) {
      work(task.patch().id);
      const auto in = task.read(New, u);
      task.contribute(total, reduce(task.exec(), "s", task.interior(), Sum, [=](Index x) { return in(x); }));
    });
  }
};

/// The records of one rank, whatever the number of pieces they came in.
struct Collected {
  std::mutex mutex;
  std::vector<TraceRecords> pieces;
  std::vector<TracedStep> steps;
  std::vector<TraceSpan> spans;

  TraceRig::Sink of(int rank) {
    return [this, rank](int from, const TraceRecords& records, const CompiledGraphs&) {
      if (from != rank) return;
      const std::lock_guard lock(mutex);
      pieces.push_back(records);
      steps.insert(steps.end(), records.steps.begin(), records.steps.end());
      spans.insert(spans.end(), records.spans.begin(), records.spans.end());
    };
  }
};

TEST(Trace, EveryNodeOfEveryRunHasItsTimesAndItsWorker) {
  const HaloPlan plan;
  for (const int threads : {0, 3}) {
    for (const int ranks : {1, 2}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(ranks) + " ranks");
      const TraceRig rig(lineOf(24, 6), plan.labels, plan.plan, ranks);
      Collected got;
      rig.run({.ranks = ranks, .threads = threads, .runs = 3}, got.of(0));
      ASSERT_EQ(got.steps.size(), 3U);
      for (const TracedStep& step : got.steps) {
        EXPECT_EQ(step.run, step.step);
        EXPECT_GT(step.memoryBytes, 100'000);
        ASSERT_EQ(static_cast<std::int64_t>(step.nodes.size()), rig.graphs(0).plans[0].nodeCount());
        for (std::size_t n = 0; n < step.nodes.size(); ++n) {
          const NodeTimes& node = step.nodes[n];
          ASSERT_GE(node.worker, 0);
          ASSERT_LT(node.worker, std::max(1, threads));
          EXPECT_LE(step.begin, node.begin);
          EXPECT_LE(node.begin, node.end);
          EXPECT_LE(node.end, step.executed);
          EXPECT_LE(node.done, step.executed);
          for (const std::int32_t next : rig.graphs(0).plans[0].successors(static_cast<std::int32_t>(n))) {
            EXPECT_LE(node.done, step.nodes[static_cast<std::size_t>(next)].begin)
                << "a node began too early";
          }
        }
        EXPECT_LE(step.executed, step.end);
      }
      ASSERT_EQ(got.spans.size(), 3U);
      EXPECT_GE(got.spans[0].begin, got.steps[0].end);
      EXPECT_LE(got.spans[0].end, got.steps[1].begin);
    }
  }
}

TEST(Trace, RecordsBeyondTheBudgetAreHandedOnBetweenSteps) {
  const HaloPlan plan;
  const TraceRig rig(lineOf(24, 6), plan.labels, plan.plan, 1);
  Collected got;

  rig.run({.runs = 5, .budget = 1}, got.of(0));

  EXPECT_GE(got.pieces.size(), 5U);
  ASSERT_EQ(got.steps.size(), 5U);
  for (std::size_t n = 0; n < got.steps.size(); ++n)
    EXPECT_EQ(got.steps[n].run, static_cast<std::int64_t>(n));
  EXPECT_TRUE(std::any_of(got.spans.begin(), got.spans.end(),
                          [](const TraceSpan& span) { return span.name == "write the trace"; }));
}

TEST(Trace, ASpanIsNotTornFromTheStepsInsideIt) {
  std::vector<std::string> order;
  Trace trace(Trace::Clock::now(), 0, [&](const TraceRecords& records) {
    for (std::size_t n = 0; n < records.steps.size(); ++n) order.emplace_back("step");
    for (const TraceSpan& span : records.spans) order.push_back(span.name);
    order.emplace_back("|");
  });
  {
    const SpanOf span(&trace, "history");
    trace.beginStep({}, 3);
    trace.executed();
    trace.endStep();
    EXPECT_TRUE(order.empty());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"step", "history", "|"}));
}

/// Time of [begin, end] during which some worker was inside a node of this kind.
std::int64_t covered(const TracedStep& step, const CompiledGraph& graph, NodeKind kind, std::int64_t begin,
                     std::int64_t end) {
  std::vector<std::pair<std::int64_t, std::int64_t>> busy;
  for (std::size_t n = 0; n < step.nodes.size(); ++n) {
    if (graph.block(static_cast<std::int32_t>(n)).kind != kind) continue;
    busy.emplace_back(std::max(begin, step.nodes[n].begin), std::min(end, step.nodes[n].end));
  }
  std::sort(busy.begin(), busy.end());
  std::int64_t sum = 0;
  for (const auto& [from, to] : busy) {
    sum += std::max<std::int64_t>(0, to - std::max(from, begin));
    begin = std::max(begin, to);
  }
  return sum;
}

/// The message delay is as long as the interior work: no message arrives before the last of the 20 patches
/// without a neighbour on the other rank has been read. A runtime that waited for a message first would never
/// end; here the trace shows all this work between the start of the receive and its arrival.
TEST(TraceOverlap, AllInteriorTasksRunBetweenTheStartOfAReceiveAndItsArrival) {
  constexpr int kPatches = 24;
  constexpr int kRanks = 2;
  const auto isInterior = [](PatchId patch) {
    return patch % (kPatches / kRanks) != 0 && (patch + 1) % (kPatches / kRanks) != 0;
  };
  for (const int threads : {0, 1, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    std::atomic<int> interiorRead[kRanks] = {0, 0};
    constexpr int kInteriorOfRank = kPatches / kRanks - 2;
    const HaloPlan plan([&](PatchId patch) {
      if (isInterior(patch)) ++interiorRead[patch / (kPatches / kRanks)];
    });
    const TraceRig rig(lineOf(96, kPatches), plan.labels, plan.plan, kRanks);
    Collected got;
    rig.run({.ranks = kRanks,
             .threads = threads,
             .mayArrive = [&](int rank) { return interiorRead[rank] == kInteriorOfRank; }},
            got.of(0));

    ASSERT_EQ(got.steps.size(), 1U);
    const TracedStep& step = got.steps[0];
    const CompiledGraphs& graphs = rig.graphs(0);
    const CompiledGraph& graph = graphs.plans[0];
    int pairs = 0;
    for (std::size_t r = 0; r < step.nodes.size(); ++r) {
      if (graph.block(static_cast<std::int32_t>(r)).kind != NodeKind::Receive) continue;
      for (std::size_t n = 0; n < step.nodes.size(); ++n) {
        const auto node = static_cast<std::int32_t>(n);
        const NodeBlock& block = graph.block(node);
        if (block.kind != NodeKind::Task || graph.units[static_cast<std::size_t>(block.item)].task != 1)
          continue;
        const auto local = static_cast<std::size_t>(block.firstLocal + node - block.firstNode);
        if (!isInterior(graphs.ownPatches[local])) continue;
        EXPECT_GE(step.nodes[n].begin, step.begin) << "all receives are posted before the first node runs";
        EXPECT_LE(step.nodes[n].end, step.nodes[r].done);
        ++pairs;
      }
    }
    EXPECT_EQ(pairs, kInteriorOfRank) << "one message brings both sides";
  }
}

constexpr std::int64_t kWork = 100'000'000;  ///< nanoseconds that sleeping tasks take at least

/// Messages take 60 ms; each of the 10 patches of a rank that has no neighbour elsewhere keeps a worker busy
/// for 10.
TEST(TraceOverlap, ADelayedMessageIsHiddenBehindInteriorWork) {
  const HaloPlan plan([](PatchId) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
  const TraceRig rig(lineOf(96, 24), plan.labels, plan.plan, 2);
  const CompiledGraph& graph = rig.graphs(0).plans[0];
  for (const int threads : {0, 1}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Collected got;
    rig.run({.ranks = 2, .threads = threads, .delay = std::chrono::milliseconds(60)}, got.of(0));

    ASSERT_EQ(got.steps.size(), 1U);
    const TracedStep& step = got.steps[0];
    int receives = 0;
    for (std::size_t n = 0; n < step.nodes.size(); ++n) {
      if (graph.block(static_cast<std::int32_t>(n)).kind != NodeKind::Receive) continue;
      ++receives;
      const std::int64_t begin = step.nodes[n].begin;
      const std::int64_t wait = step.nodes[n].done - begin;
      EXPECT_GE(wait, 50'000'000) << "the delay was not injected";
      // A busy machine may hold the other rank up for longer than there is work.
      EXPECT_GE(covered(step, graph, NodeKind::Task, begin, begin + wait), std::min(wait, kWork) * 8 / 10)
          << "the worker idled while the message was under way";
    }
    EXPECT_GT(receives, 0);
  }
}

}  // namespace
}  // namespace tessera
