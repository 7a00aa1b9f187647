#include "tools/tessera/trace/trace_path.hpp"

#include <algorithm>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera {
namespace {

TraceModel modelOfEvents(const std::string& text) {
  std::istringstream in("{\"traceEvents\":[" + text + "]}");
  return readTrace(in, "trace.json");
}

/// Microseconds.
std::map<std::string, std::int64_t> pathOf(const TraceModel& trace) {
  std::map<std::string, std::int64_t> path = criticalPath(trace);
  for (auto& [name, time] : path) time /= 1000;
  return path;
}

TEST(CriticalPath, AStepThatBeginsBesideTheReductionOfTheLastOneIsCountedOnce) {
  // The minimum of step 1 is there at 60, when B of step 2 has run since 30; C of step 2 waits for it.
  const TraceModel model = modelOfEvents(R"(
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":0,"dur":30,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":30}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":0,"dur":28,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":0,"tid":1,"name":"join dt","cat":"join","ts":28,"dur":2,"args":{"run":0,"node":1,"after":0,"ready":28}},
{"ph":"X","pid":0,"tid":10000,"name":"reduce dt","cat":"reduction","ts":30,"dur":30,"args":{"run":0,"node":1,"reduction":0}},
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":30,"dur":45,"args":{"run":1,"step":2,"plan":"s","workers":1,"executed":75}},
{"ph":"X","pid":0,"tid":1,"name":"B","cat":"task","ts":30,"dur":25,"args":{"run":1,"node":0,"after":-1,"ready":30}},
{"ph":"X","pid":0,"tid":1,"name":"C","cat":"task","ts":61,"dur":14,"args":{"run":1,"node":1,"after":-2,"ready":60}})");

  const std::map<std::string, std::int64_t> expected{
      {"A", 28}, {"join dt", 2}, {"(reduction)", 30}, {"(ready, not started)", 1}, {"C", 14}};
  EXPECT_EQ(pathOf(model), expected) << "B is not on the path";
}

TEST(CriticalPath, AReductionThatIsAwaitedBetweenStepsLeadsToTheRankThatJoinedItLast) {
  // Rank 0 has joined at 10 and waits between the steps until 50; rank 1 joins at 40, after its long task.
  const TraceModel model = modelOfEvents(R"(
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":0,"dur":10,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":10}},
{"ph":"X","pid":0,"tid":1,"name":"join dt","cat":"join","ts":0,"dur":10,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":0,"tid":10000,"name":"reduce dt","cat":"reduction","ts":10,"dur":40,"args":{"run":0,"node":0,"reduction":0}},
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":51,"dur":10,"args":{"run":1,"step":2,"plan":"s","workers":1,"executed":61}},
{"ph":"X","pid":0,"tid":1,"name":"B","cat":"task","ts":51,"dur":10,"args":{"run":1,"node":0,"after":-1,"ready":51}},
{"ph":"X","pid":1,"tid":0,"name":"s","cat":"step","ts":0,"dur":40,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":40}},
{"ph":"X","pid":1,"tid":1,"name":"slow","cat":"task","ts":0,"dur":39,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":1,"tid":1,"name":"join dt","cat":"join","ts":39,"dur":1,"args":{"run":0,"node":1,"after":0,"ready":39}},
{"ph":"X","pid":1,"tid":10000,"name":"reduce dt","cat":"reduction","ts":40,"dur":9,"args":{"run":0,"node":1,"reduction":0}})");

  const std::map<std::string, std::int64_t> expected{
      {"slow", 39}, {"join dt", 1}, {"(reduction)", 10}, {"(between steps)", 1}, {"B", 10}};
  EXPECT_EQ(pathOf(model), expected);
}

TEST(CriticalPath, WhatAllRanksCombineIsWaitedForUntilTheLastOneHasBegun) {
  const TraceModel model = modelOfEvents(R"(
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":0,"dur":50,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":10}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":0,"dur":10,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":1,"tid":0,"name":"i","cat":"step","ts":5,"dur":42,"args":{"run":-1,"step":0,"plan":"i","workers":1,"executed":47}},
{"ph":"X","pid":1,"tid":1,"name":"late","cat":"task","ts":5,"dur":42,"args":{"run":-1,"node":0,"after":-1,"ready":5}},
{"ph":"X","pid":1,"tid":0,"name":"s","cat":"step","ts":48,"dur":1,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":49}})");

  const std::map<std::string, std::int64_t> expected{
      {"late", 42}, {"(between steps)", 1}, {"(reduction)", 2}};
  EXPECT_EQ(pathOf(model), expected);
}

TEST(CriticalPath, ClocksThatDifferMakeNoTimeOfTheirOwn) {
  // The clock of rank 1 is 40 us behind: its message seems to leave before the step has begun.
  const TraceModel model = modelOfEvents(R"(
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":100,"dur":20,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":120}},
{"ph":"X","pid":0,"tid":20000,"name":"from rank 1","cat":"receive","ts":70,"dur":40,"args":{"run":0,"node":0,"after":-1,"ready":100,"peer":1,"tag":7}},
{"ph":"X","pid":0,"tid":1,"name":"B","cat":"task","ts":110,"dur":10,"args":{"run":0,"node":1,"after":0,"ready":110}},
{"ph":"X","pid":1,"tid":0,"name":"s","cat":"step","ts":60,"dur":18,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":78}},
{"ph":"X","pid":1,"tid":1,"name":"A","cat":"task","ts":60,"dur":14,"args":{"run":0,"node":0,"after":-1,"ready":60}},
{"ph":"X","pid":1,"tid":1,"name":"pack","cat":"pack","ts":74,"dur":1,"args":{"run":0,"node":1,"after":0,"ready":74}},
{"ph":"X","pid":1,"tid":20000,"name":"to rank 0","cat":"send","ts":75,"dur":2,"args":{"run":0,"node":1,"peer":0,"tag":7}})");

  const std::map<std::string, std::int64_t> expected{{"A", 14}, {"pack", 1}, {"(message)", 35}, {"B", 10}};
  EXPECT_EQ(pathOf(model), expected);
  EXPECT_LE(summarise(model).pathLength, summarise(model).wall);
}

/// A trace in which nothing fits together: any node may name any other, at any time.
TraceModel randomTrace(std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  TraceModel model;
  const int ranks = 1 + static_cast<int>(below(3));
  for (int rank = 0; rank < ranks; ++rank) {
    TracedRank& part = model.ranks[rank];
    const std::int64_t offset = below(200);
    for (std::int64_t number = 0; number < 4; ++number) {
      if (number > 0 && below(5) == 0) continue;
      TracedRun& run = part.runs[number];
      run.plan = below(2) == 0 ? "step" : "diagnostics";
      run.begin = offset + 50 * number + below(80);
      run.executed = run.begin + below(80);
      run.end = run.executed + below(20);
      for (std::int32_t id = 0; id < 6; ++id) {
        TracedNode& node = run.nodes[id];
        node.kind = static_cast<TraceKind>(below(5));
        node.name = "n" + std::to_string(id);
        node.worker = static_cast<int>(below(3)) - 1;
        node.begin = offset + below(300);
        node.end = node.begin + below(60);
        node.done = node.end + below(90);
        node.ready = offset + below(300);
        node.after = static_cast<std::int32_t>(below(8)) - 2;
        node.peer = static_cast<int>(below(4));
        node.tag = below(2);
        node.item = below(2);
      }
    }
    for (int span = 0; span < 3; ++span) {
      const std::int64_t begin = offset + below(300);
      part.spans.push_back({"fields", begin, begin + below(50)});
    }
    std::sort(part.spans.begin(), part.spans.end(),
              [](const TracedSpan& a, const TracedSpan& b) { return a.begin < b.begin; });
  }
  return model;
}

TEST(CriticalPath, IsNeverLongerThanTheRunWhateverTheTraceHolds) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    std::mt19937_64 random(seed);
    const TraceModel model = randomTrace(random);
    const TraceSummary summary = summarise(model);

    ASSERT_LE(summary.pathLength, summary.wall) << "seed " << seed;
    ASSERT_GE(summary.pathLength, 0) << "seed " << seed;
    for (const TimeShare& share : summary.path) ASSERT_GT(share.nanoseconds, 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tessera
