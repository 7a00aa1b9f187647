#include "tools/tessera/trace/trace_summary.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

/// Two ranks, times in microseconds. In run 0 rank 0 (two workers) packs a message after a task; rank 1 waits
/// for it, then its long task B keeps the reduction waiting. Fields are written between the runs; in run 1
/// one task each.
const char* const kTrace = R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":0,"tid":0,"name":"process_name","args":{"name":"rank 0"}},
{"ph":"X","pid":0,"tid":0,"name":"step 1","cat":"step","ts":0,"dur":100,"args":{"run":0,"step":1,"plan":"step","workers":2,"executed":95}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":0,"dur":20,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":0,"tid":1,"name":"pack for rank 1","cat":"pack","ts":20,"dur":2,"args":{"run":0,"node":2,"after":0,"ready":20}},
{"ph":"X","pid":0,"tid":1,"name":"C","cat":"task","ts":22,"dur":28,"args":{"run":0,"node":3,"after":0,"ready":20}},
{"ph":"X","pid":0,"tid":1,"name":"join dt","cat":"join","ts":50,"dur":1,"args":{"run":0,"node":4,"after":3,"ready":50}},
{"ph":"X","pid":0,"tid":2,"name":"A","cat":"task","ts":5,"dur":10,"args":{"run":0,"node":1,"after":-1,"ready":0}},
{"ph":"X","pid":0,"tid":10000,"name":"reduce dt","cat":"reduction","ts":51,"dur":44,"args":{"run":0,"node":4,"reduction":0}},
{"ph":"X","pid":0,"tid":20000,"name":"to rank 1","cat":"send","ts":22,"dur":8,"args":{"run":0,"node":2,"peer":1,"tag":7}},
{"ph":"s","pid":0,"tid":20000,"name":"message","cat":"message","id":5,"ts":22},
{"ph":"X","pid":0,"tid":1,"name":"fields","cat":"output","ts":102,"dur":8},
{"ph":"X","pid":0,"tid":1,"name":"inside","cat":"output","ts":103,"dur":1},
{"ph":"X","pid":0,"tid":0,"name":"step 2","cat":"step","ts":112,"dur":10,"args":{"run":1,"step":2,"plan":"step","workers":2,"executed":122}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":112,"dur":10,"args":{"run":1,"node":0,"after":-1,"ready":112}},
{"ph":"X","pid":1,"tid":0,"name":"step 1","cat":"step","ts":0,"dur":100,"args":{"run":0,"step":1,"plan":"step","workers":1,"executed":95}},
{"ph":"X","pid":1,"tid":1,"name":"A","cat":"task","ts":0,"dur":10,"args":{"run":0,"node":0,"after":-1,"ready":0}},
{"ph":"X","pid":1,"tid":20000,"name":"from rank 0","cat":"receive","ts":0,"dur":40,"args":{"run":0,"node":1,"after":-1,"ready":0,"peer":0,"tag":7}},
{"ph":"f","pid":1,"tid":20000,"name":"message","cat":"message","id":5,"bp":"e","ts":39.999},
{"ph":"X","pid":1,"tid":1,"name":"B","cat":"task","ts":42,"dur":48,"args":{"run":0,"node":2,"after":1,"ready":40}},
{"ph":"X","pid":1,"tid":1,"name":"join dt","cat":"join","ts":90,"dur":1,"args":{"run":0,"node":3,"after":2,"ready":90}},
{"ph":"X","pid":1,"tid":10000,"name":"reduce dt","cat":"reduction","ts":91,"dur":3,"args":{"run":0,"node":3,"reduction":0}},
{"ph":"X","pid":1,"tid":0,"name":"step 2","cat":"step","ts":112,"dur":10,"args":{"run":1,"step":2,"plan":"step","workers":1,"executed":117}},
{"ph":"X","pid":1,"tid":1,"name":"A","cat":"task","ts":112,"dur":5,"args":{"run":1,"node":0,"after":-1,"ready":112}}
]})";

TraceModel modelOf(const std::string& text) {
  std::istringstream in(text);
  return readTrace(in, "trace.json");
}

/// Microseconds by name.
std::map<std::string, std::int64_t> asMap(const std::vector<TimeShare>& shares) {
  std::map<std::string, std::int64_t> map;
  for (const TimeShare& share : shares) map[share.name] = share.nanoseconds / 1000;
  return map;
}

TEST(TraceSummary, TheCriticalPathGoesBackOverMessagesAndReductions) {
  const TraceSummary summary = summarise(modelOf(kTrace));

  // Back from the end: A of run 1, the fields before it; in run 0 what all ranks combine, the reduction, B on
  // rank 1, which kept it waiting, and the message, the pack and A of rank 0, which B waited for.
  const std::map<std::string, std::int64_t> expected{
      {"A", 20 + 10}, {"pack for rank 1", 2}, {"(message)", 18}, {"(ready, not started)", 2}, {"B", 48},
      {"join dt", 1}, {"(reduction)", 4 + 5}, {"(output)", 8},   {"(between steps)", 4}};
  EXPECT_EQ(asMap(summary.path), expected);
  EXPECT_EQ(summary.pathLength, summary.wall);
  EXPECT_DOUBLE_EQ(summary.path.front().share, 48.0 / 122.0);
}

TEST(TraceSummary, EveryMicrosecondOfEveryWorkerIsAccountedForOnce) {
  const TraceSummary summary = summarise(modelOf(kTrace));

  const std::map<std::string, std::int64_t> expected{
      {"tasks", 131},        {"packing and joining", 4},   {"waits: message", 30}, {"waits: reduction", 147},
      {"waits: output", 16}, {"waits: nothing ready", 10}, {"between steps", 20},  {"ready, not started", 8}};
  EXPECT_EQ(asMap(summary.workerTime), expected);
  EXPECT_EQ(summary.workers, 3);
  EXPECT_EQ(summary.wall, 122'000);
  double shares = 0.0;
  for (const TimeShare& share : summary.workerTime) shares += share.share;
  EXPECT_DOUBLE_EQ(shares, 1.0);
}

TEST(TraceSummary, PlansHaveRunsAndTheTimeOfTheSlowestRank) {
  const TraceSummary summary = summarise(modelOf(kTrace));

  ASSERT_EQ(summary.plans.size(), 1U);
  EXPECT_EQ(summary.plans[0].name, "step");
  EXPECT_EQ(summary.plans[0].runs, 2);
  EXPECT_EQ(summary.plans[0].total, 110'000);
  EXPECT_EQ(summary.plans[0].tasks, 131'000);
  EXPECT_THAT(asText(summary), HasSubstr("step     2  110 us  55 us    131 us"));
  EXPECT_THAT(asJson(summary), HasSubstr("\"runs\": 2"));
}

TEST(TraceSummary, TasksHaveCountsTimesAndDelays) {
  const TraceSummary summary = summarise(modelOf(kTrace));

  const auto row = std::find_if(summary.tasks.begin(), summary.tasks.end(),
                                [](const TaskRow& task) { return task.name == "A"; });
  ASSERT_NE(row, summary.tasks.end());
  EXPECT_EQ(row->count, 5);
  EXPECT_EQ(row->total, 55'000);
  EXPECT_DOUBLE_EQ(row->mean, 11'000.0);
  EXPECT_EQ(row->p99, 20'000);
  EXPECT_DOUBLE_EQ(row->delayMean, 1'000.0);
  EXPECT_EQ(row->delayP99, 5'000);
  EXPECT_EQ(summary.tasks.front().name, "A") << "the largest total comes first";
}

TEST(TraceSummary, TheTextNamesWhatCosts) {
  const std::string text = asText(summarise(modelOf(kTrace)));

  EXPECT_THAT(text, HasSubstr("2 run(s) of a plan on 2 rank(s) with 3 worker(s) in total, 122 us"));
  EXPECT_THAT(text, HasSubstr("Critical path, 122 us:"));
  EXPECT_THAT(text, HasSubstr("  B                     48 us  39.3 %\n"));
  EXPECT_THAT(text, HasSubstr("  waits: reduction      147 us  40.2 %\n"));
}

TEST(TraceSummary, OneStepCanBeChosen) {
  TraceModel model = modelOf(kTrace);
  keepStep(model, 2);
  const TraceSummary summary = summarise(model);

  EXPECT_EQ(summary.wall, 10'000);
  EXPECT_EQ(asMap(summary.path), (std::map<std::string, std::int64_t>{{"A", 10}}));
  try {
    keepStep(model, 9);
    FAIL() << "step 9 was found";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.message(), HasSubstr("step 9 is not in the trace"));
  }
}

/// Three runs of which device 0 launches something, with fields written before the last one; device 1 has one
/// copy. The second launch of A goes over two streams. A's node is handed to the device in 2 us and done 48
/// later; B waits for it.
const char* const kDeviceTrace = R"({"traceEvents":[
{"ph":"X","pid":0,"tid":0,"name":"step 1","cat":"step","ts":0,"dur":95,"args":{"run":0,"step":1,"plan":"step","workers":1,"executed":95}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":0,"dur":2,"args":{"run":0,"node":0,"after":-1,"ready":0,"done":50}},
{"ph":"X","pid":0,"tid":1,"name":"B","cat":"task","ts":55,"dur":40,"args":{"run":0,"node":1,"after":0,"ready":50}},
{"ph":"X","pid":0,"tid":0,"name":"step 2","cat":"step","ts":100,"dur":100,"args":{"run":1,"step":2,"plan":"step","workers":1,"executed":200}},
{"ph":"X","pid":0,"tid":1,"name":"fields","cat":"output","ts":205,"dur":20},
{"ph":"X","pid":0,"tid":0,"name":"step 3","cat":"step","ts":230,"dur":70,"args":{"run":2,"step":3,"plan":"step","workers":1,"executed":300}},
{"ph":"X","pid":0,"tid":30001,"name":"A","cat":"device","ts":10,"dur":30,"args":{"kind":"kernel","device":0,"stream":0,"run":0,"tasks":8,"launched":9}},
{"ph":"X","pid":0,"tid":30001,"name":"A","cat":"device","ts":60,"dur":20,"args":{"kind":"kernel","device":0,"stream":0,"run":0,"tasks":2,"launched":9}},
{"ph":"X","pid":0,"tid":30001,"name":"A","cat":"device","ts":110,"dur":20,"args":{"kind":"kernel","device":0,"stream":0,"run":1,"tasks":8,"launched":9}},
{"ph":"X","pid":0,"tid":30001,"name":"Old u to the host","cat":"device","ts":130,"dur":10,"args":{"kind":"copy","device":0,"stream":0,"run":1,"tasks":0,"launched":9,"bytes":200000}},
{"ph":"X","pid":0,"tid":30001,"name":"A","cat":"device","ts":250,"dur":10,"args":{"kind":"kernel","device":0,"stream":0,"run":2,"tasks":8,"launched":9}},
{"ph":"X","pid":0,"tid":30002,"name":"halo of New u","cat":"device","ts":30,"dur":20,"args":{"kind":"fill","device":0,"stream":1,"run":0,"tasks":4,"launched":9}},
{"ph":"X","pid":0,"tid":30002,"name":"A","cat":"device","ts":60,"dur":30,"args":{"kind":"kernel","device":0,"stream":1,"run":0,"tasks":2,"part":1,"launched":9}},
{"ph":"X","pid":0,"tid":30000,"name":"idle","cat":"idle","ts":50,"dur":10},
{"ph":"X","pid":0,"tid":31001,"name":"Old u to the host","cat":"device","ts":140,"dur":10,"args":{"kind":"copy","device":1,"stream":0,"run":1,"tasks":0,"launched":9,"bytes":100000}}
]})";

TEST(TraceSummary, EveryMicrosecondOfEveryDeviceIsAccountedForOnce) {
  const TraceSummary summary = summarise(modelOf(kDeviceTrace));

  ASSERT_EQ(summary.devices.devices.size(), 2U);
  const DeviceRow& first = summary.devices.devices[0];
  EXPECT_EQ(first.busy, 40'000 + 30'000 + 30'000 + 10'000) << "two streams at once count once";
  EXPECT_EQ(first.idleInSteps, 10'000);
  EXPECT_EQ(first.idleBetween, 20'000 + 90'000);
  EXPECT_EQ(first.idleForOutput, 20'000);
  EXPECT_EQ(first.total(), 250'000);
  const DeviceRow& second = summary.devices.devices[1];
  EXPECT_EQ(second.device, 1);
  EXPECT_EQ(second.busy, 10'000);
  EXPECT_EQ(second.total(), 10'000);
}

TEST(TraceSummary, LaunchesOnDevicesHaveCountsTimesAndBytes) {
  const std::vector<LaunchRow> rows = summarise(modelOf(kDeviceTrace)).devices.launches;

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "A");
  EXPECT_EQ(rows[0].kind, "kernel");
  EXPECT_EQ(rows[0].launches, 4) << "a launch over two streams is one";
  EXPECT_EQ(rows[0].tasks, 8 + 2 + 8 + 8);
  EXPECT_EQ(rows[0].total, 110'000);
  EXPECT_EQ(rows[0].bytes, 0);
  const auto copy =
      std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.kind == "copy"; });
  ASSERT_NE(copy, rows.end());
  EXPECT_EQ(copy->launches, 2);
  EXPECT_EQ(copy->total, 20'000);
  EXPECT_EQ(copy->bytes, 300'000);
}

TEST(TraceSummary, AWorkerWaitsForADeviceByThatName) {
  const TraceSummary summary = summarise(modelOf(kDeviceTrace));
  const std::map<std::string, std::int64_t> times = asMap(summary.workerTime);

  EXPECT_EQ(times.at("waits: device"), 48);
  EXPECT_EQ(times.at("ready, not started"), 5 + 170) << "the other steps have no nodes here";
  ASSERT_EQ(summary.tasks.size(), 1U) << "what ran on a device took no time of a worker worth a row";
  EXPECT_EQ(summary.tasks[0].name, "B");
  const std::map<std::string, std::int64_t> path = asMap(summary.path);
  EXPECT_EQ(path.at("A"), 50);
  EXPECT_EQ(path.at("B"), 40);
  EXPECT_EQ(path.at("(output)"), 20);
  EXPECT_EQ(summary.pathLength, summary.wall);
}

TEST(TraceSummary, TheTextHasTheDevices) {
  const std::string text = asText(summarise(modelOf(kDeviceTrace)));

  EXPECT_THAT(text, HasSubstr(R"(
  Device             time             busy  idle in steps  idle between steps  idle for output
  rank 0 device 0  250 us  110 us (44.0 %)  10 us (4.0 %)     110 us (44.0 %)    20 us (8.0 %)
  rank 0 device 1   10 us  10 us (100.0 %)   0 ns (0.0 %)        0 ns (0.0 %)     0 ns (0.0 %)

  On devices           kind  launches  tasks   total     mean    a task   MB  GB/s
  A                  kernel         4     26  110 us  27.5 us  4.231 us    -     -
  Old u to the host    copy         2      0   20 us    10 us         -  0.3  15.0
  halo of New u        fill         1      4   20 us    20 us      5 us    -     -
)"));
  EXPECT_THAT(asText(summarise(modelOf(kTrace))), testing::Not(HasSubstr("evice")));
}

TEST(TraceSummary, AChosenStepHasItsOwnLaunchesAlone) {
  TraceModel model = modelOf(kDeviceTrace);
  keepStep(model, 2);
  const DeviceSummary devices = summarise(model).devices;

  ASSERT_EQ(devices.devices.size(), 2U);
  EXPECT_EQ(devices.devices[0].total(), 30'000);
  EXPECT_EQ(devices.launches.size(), 2U);
}

TEST(TraceSummary, NodesThatWaitInACycleAreNoEndlessPath) {
  const TraceModel model = modelOf(R"({"traceEvents":[
{"ph":"X","pid":0,"tid":0,"name":"s","cat":"step","ts":0,"dur":9,"args":{"run":0,"step":1,"plan":"s","workers":1,"executed":9}},
{"ph":"X","pid":0,"tid":1,"name":"A","cat":"task","ts":0,"dur":4,"args":{"run":0,"node":0,"after":1,"ready":0}},
{"ph":"X","pid":0,"tid":1,"name":"B","cat":"task","ts":5,"dur":4,"args":{"run":0,"node":1,"after":0,"ready":4}}]})");

  EXPECT_EQ(summarise(model).pathLength, 9'000);
}

TEST(TraceSummary, WhatIsNoTraceIsRefusedWithAFix) {
  for (const std::string text :
       {"", "{", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":[{\"ph\":\"X\"}]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":0,\"cat\":\"step\",\"args\":{}}]}"}) {
    SCOPED_TRACE(text);
    try {
      modelOf(text);
      ADD_FAILURE() << "it was taken for a trace";
    } catch (const InputError& error) {
      EXPECT_THAT(error.message(), HasSubstr("trace.json"));
      EXPECT_THAT(error.message(), HasSubstr("tessera run DECK --trace"));
    }
  }
}

}  // namespace
}  // namespace tessera
