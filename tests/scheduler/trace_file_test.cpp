#include "scheduler/tracing/trace_file.hpp"

#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "tests/scheduler/trace_rig.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using Lane = std::pair<int, int>;

/// Whether a list of events is what the Chrome trace-event format asks for, as far as viewers depend on it.
class StrictViewer {
 public:
  explicit StrictViewer(const Json& trace) {
    EXPECT_EQ(trace.at("displayTimeUnit"), "ms");
    for (const Json& event : trace.at("traceEvents")) look(event);
    for (const auto& [lane, slices] : slices_) {
      EXPECT_TRUE(laneNames_.contains(lane)) << "no name for lane " << lane.first << "/" << lane.second;
      EXPECT_TRUE(processNames_.contains(lane.first));
    }
    for (const auto& [id, ends] : arrows_) {
      EXPECT_TRUE(ends.start && ends.finish) << "half an arrow: " << id;
      EXPECT_LE(ends.start.value_or(0.0), ends.finish.value_or(0.0)) << "an arrow goes back in time: " << id;
    }
  }

  int count(const std::string& phase, const std::string& category) const {
    const auto at = counts_.find(phase + category);
    return at == counts_.end() ? 0 : at->second;
  }
  const std::map<Lane, std::string>& laneNames() const { return laneNames_; }

 private:
  struct Slice {
    double begin = 0.0;
    double end = 0.0;
  };
  struct Ends {
    std::optional<double> start;
    std::optional<double> finish;
  };

  void look(const Json& event) {
    const std::string phase = event.at("ph");
    const Lane lane{event.at("pid").get<int>(), event.at("tid").get<int>()};
    ASSERT_FALSE(event.at("name").get<std::string>().empty());
    ASSERT_FALSE(event.at("cat").get<std::string>().empty());
    ++counts_[phase + event.value("cat", "")];
    if (phase == "M") return lookAtName(event, lane);
    const double at = event.at("ts");
    EXPECT_GE(at, lastAt_.contains(lane) ? lastAt_[lane] : 0.0)
        << "time goes back in a lane: " << event.dump();
    lastAt_[lane] = at;
    if (phase == "X") return lookAtSlice(event, lane, at);
    if (phase == "s" || phase == "f") return lookAtArrow(event, lane, at);
    ASSERT_EQ(phase, "C");
    for (const auto& [name, value] : event.at("args").items()) EXPECT_TRUE(value.is_number());
  }

  void lookAtName(const Json& event, const Lane& lane) {
    const std::string what = event.at("name");
    // Perfetto's reader takes all of these first, and a thread's name for the thread that it has met last
    // under that number, in whatever process.
    if (met_.insert(lane).second) lastProcessWith_[lane.second] = lane.first;
    if (what == "thread_name") {
      EXPECT_EQ(lastProcessWith_[lane.second], lane.first) << event.dump();
      laneNames_[lane] = event.at("args").at("name");
    }
    if (what == "process_name") processNames_[lane.first] = event.at("args").at("name");
  }

  void lookAtSlice(const Json& event, const Lane& lane, double at) {
    const double end = at + event.at("dur").get<double>();
    EXPECT_GE(end, at);
    EXPECT_TRUE(event.at("cat").is_string());
    std::vector<Slice>& open = slices_[lane];
    while (!open.empty() && open.back().end <= at) open.pop_back();
    const double limit = open.empty() ? end : open.back().end;
    EXPECT_LE(end, limit + 1e-3) << "slices overlap: " << event.dump();
    open.push_back({at, end});
  }

  void lookAtArrow(const Json& event, const Lane& lane, double at) {
    ASSERT_FALSE(slices_[lane].empty());
    const Slice& around = slices_[lane].back();
    EXPECT_LE(around.begin, at);
    EXPECT_GE(around.end, at);
    const bool starts = event.at("ph") == "s";
    EXPECT_EQ(event.value("bp", ""), starts ? "" : "e");
    ASSERT_TRUE(event.at("id").is_number_integer());
    ASSERT_LT(event.at("id").get<std::uint64_t>(), std::uint64_t{1} << 53);
    Ends& ends = arrows_[event.at("id").dump() + event.at("cat").get<std::string>() +
                         event.at("name").get<std::string>()];
    std::optional<double>& end = starts ? ends.start : ends.finish;
    EXPECT_FALSE(end) << "two arrows have one id";
    end = at;
  }

  std::map<Lane, std::string> laneNames_;
  std::map<int, std::string> processNames_;
  std::set<Lane> met_;                  ///< by names
  std::map<int, int> lastProcessWith_;  ///< by number of a thread
  std::map<Lane, double> lastAt_;
  std::map<Lane, std::vector<Slice>> slices_;
  std::map<std::string, Ends> arrows_;
  std::map<std::string, int> counts_;
};

class TraceFileTest : public ::testing::Test {
 protected:
  TraceFileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("tessera_trace_" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const auto u = labels_.variable<double, Cell>("u");
    const auto total = labels_.reduction("total");
    plan_.task("Test::write").writes(u).runs<Cpu>([u](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "w", task.interior(), [=](Index x) { out(x) = static_cast<double>(x.i); });
    });
    plan_.task("Test::read").reads(New, u, halo(1)).contributes(total, Sum).runs<Cpu>([=](const auto& task) {
      const auto in = task.read(New, u);
      task.contribute(total, reduce(task.exec(), "s", task.interior(), Sum, [=](Index x) { return in(x); }));
    });
  }
  ~TraceFileTest() override { std::filesystem::remove_all(folder_); }

  Json traceOf(const test::TraceShape& shape, bool edges) {
    const test::TraceRig rig(test::lineOf(24, 6), labels_, plan_, shape.ranks);
    std::vector<std::filesystem::path> parts;
    std::vector<std::unique_ptr<TraceFile>> files;
    for (int rank = 0; rank < shape.ranks; ++rank) {
      parts.push_back(folder_ / ("part" + std::to_string(rank)));
      const int workers = std::max(1, shape.threads);
      files.push_back(std::make_unique<TraceFile>(parts.back(), TraceFileOptions{rank, workers, edges}));
    }
    rig.run(shape, [&](int rank, const TraceRecords& records, const CompiledGraphs& graphs) {
      files[static_cast<std::size_t>(rank)]->write(records, graphs);
    });
    for (auto& file : files) file->close();
    joinTraces(parts, folder_ / "trace.json.gz");
    for (const auto& part : parts) EXPECT_FALSE(std::filesystem::exists(part));
    return Json::parse(unzipped(folder_ / "trace.json.gz"));
  }

  static std::string unzipped(const std::filesystem::path& path) {
    gzFile in = gzopen(path.c_str(), "rb");
    std::string text;
    char block[4096];
    for (int size = 0; (size = gzread(in, block, sizeof(block))) > 0;)
      text.append(block, static_cast<std::size_t>(size));
    EXPECT_EQ(gzdirect(in), 0) << "the file is not compressed";
    gzclose(in);
    return text;
  }

  std::filesystem::path folder_;
  LabelTable labels_;
  StepPlan plan_{"initial"};
};

TEST_F(TraceFileTest, IsWhatViewersTake) {
  for (const int ranks : {1, 3}) {
    for (const int threads : {0, 2}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(threads) + " threads");
      const StrictViewer seen(traceOf({.ranks = ranks, .threads = threads, .runs = 3}, false));

      EXPECT_EQ(seen.count("X", "step"), 3 * ranks);
      EXPECT_EQ(seen.count("X", "task"), 3 * 12);
      EXPECT_EQ(seen.count("X", "fill"), 3 * 6);
      EXPECT_EQ(seen.count("X", "output"), 3 * ranks);
      EXPECT_EQ(seen.count("X", "join"), 3 * ranks);
      EXPECT_EQ(seen.count("X", "reduction"), 3 * ranks);
      // On a periodic line each of three ranks has a neighbour on either side.
      EXPECT_EQ(seen.count("X", "receive"), ranks == 1 ? 0 : 3 * 6);
      EXPECT_EQ(seen.count("X", "send"), seen.count("X", "receive"));
      EXPECT_EQ(seen.count("s", "message"), seen.count("X", "send"));
      EXPECT_EQ(seen.count("f", "message"), seen.count("X", "receive"));
      EXPECT_EQ(seen.count("C", "memory"), 3 * ranks);
      EXPECT_EQ(seen.laneNames().at({0, 1}), "worker 0");
    }
  }
}

TEST_F(TraceFileTest, AnArrowForEachEdgeOnRequest) {
  const StrictViewer seen(traceOf({.ranks = 2, .threads = 2, .runs = 2}, true));

  std::int64_t edges = 0;
  const test::TraceRig rig(test::lineOf(24, 6), labels_, plan_, 2);
  for (int rank = 0; rank < 2; ++rank) {
    edges += static_cast<std::int64_t>(rig.graphs(rank).plans[0].successorLists.pool.size());
  }
  EXPECT_EQ(seen.count("s", "edge"), 2 * edges);
  EXPECT_EQ(seen.count("f", "edge"), 2 * edges);
}

TEST_F(TraceFileTest, StaysValidWhenItIsWrittenInPieces) {
  const StrictViewer seen(traceOf({.ranks = 2, .threads = 2, .runs = 4, .budget = 1}, true));

  EXPECT_EQ(seen.count("X", "task"), 4 * 12);
}

/// A launch without a host, in microseconds.
DeviceSpan launchOf(std::int32_t stream, std::int64_t run, std::int64_t begin, std::int64_t end) {
  const LaunchNote what{.name = "Heat::advance", .work = DeviceWork::Kernel, .tasks = 64};
  return {what, 1, stream, run, 1000 * begin - 500, 1000 * begin, 1000 * end};
}

TEST_F(TraceFileTest, DevicesHaveALaneForEachStreamAndOneForTheirIdleTime) {
  const test::TraceRig rig(test::lineOf(24, 6), labels_, plan_, 1);
  TraceFile file(folder_ / "part", {});
  TraceRecords first;
  first.onDevices = {launchOf(0, 0, 10, 40), launchOf(1, 0, 20, 50), launchOf(0, 0, 60, 70)};
  TraceRecords second;
  second.onDevices = {launchOf(1, 1, 75, 80)};
  second.onDevices[0].what.bytes = 512;
  file.write(first, rig.graphs(0));
  file.write(second, rig.graphs(0));
  file.close();
  joinTraces({folder_ / "part"}, folder_ / "trace.json.gz");
  const Json trace = Json::parse(unzipped(folder_ / "trace.json.gz"));
  const StrictViewer seen(trace);

  EXPECT_EQ(seen.laneNames(), (std::map<Lane, std::string>{{{0, 31'000}, "device 1"},
                                                           {{0, 31'001}, "device 1 stream 0"},
                                                           {{0, 31'002}, "device 1 stream 1"}}));
  EXPECT_EQ(seen.count("X", "device"), 4);
  std::vector<std::string> idle;
  Json last;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == "device") last = event;
    if (event.value("cat", "") != "idle") continue;
    idle.push_back(event.at("name").get<std::string>() + " " + event.at("ts").dump() + "+" +
                   event.at("dur").dump());
  }
  EXPECT_THAT(idle, ::testing::ElementsAre("idle 50+10", "idle between steps 70+5"));
  EXPECT_EQ(last.at("name"), "Heat::advance");
  EXPECT_EQ(last.at("args"),
            Json::parse(
                R"({"kind":"kernel","device":1,"stream":1,"run":1,"tasks":64,"launched":74.5,"bytes":512})"));
}

TEST_F(TraceFileTest, ATaskThatGoesOnOnADeviceTellsWhenItWasDone) {
  const test::TraceRig rig(test::lineOf(24, 6), labels_, plan_, 1);
  const CompiledGraphs& graphs = rig.graphs(0);
  TraceRecords records;
  TracedStep& step = records.steps.emplace_back();
  step.nodes.resize(static_cast<std::size_t>(graphs.plans[0].nodeCount()));
  step.nodes[0] = {1000, 2000, 9000, 0};
  step.nodes[1] = {2000, 3000, 3000, 0};
  step.nodes[2] = {3000, 5000, -1, 0};    // nobody asked
  step.nodes[3] = {5000, 9000, 8000, 0};  // seen before its worker had handed it over
  TraceFile file(folder_ / "part", {});
  file.write(records, graphs);
  file.close();
  joinTraces({folder_ / "part"}, folder_ / "trace.json.gz");

  const Json trace = Json::parse(unzipped(folder_ / "trace.json.gz"));
  std::map<int, Json> args;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == "task") args[event.at("args").at("node").get<int>()] = event.at("args");
  }
  ASSERT_EQ(args.size(), 4U);
  EXPECT_EQ(args[0].at("done"), 9.0);
  EXPECT_FALSE(args[1].contains("done"));
  EXPECT_EQ(args[2].at("done"), 5.0);
  EXPECT_EQ(args[3].at("done"), 8.0);
}

/// Microseconds.
TracedStep stepWithReduction(const CompiledGraph& graph, std::int64_t run, std::int64_t begin,
                             std::int64_t done) {
  TracedStep step;
  step.run = step.step = run;
  step.begin = 1000 * begin;
  step.executed = step.end = 1000 * (begin + 20);
  step.nodes.resize(static_cast<std::size_t>(graph.nodeCount()));
  for (std::int32_t node = 0; node < graph.nodeCount(); ++node) {
    if (graph.block(node).kind != NodeKind::Reduce) continue;
    step.nodes[static_cast<std::size_t>(node)] = {1000 * (begin + 10), 1000 * (begin + 11), 1000 * done, 0};
  }
  return step;
}

TEST_F(TraceFileTest, ReductionsThatOverlapAreInLanesOfTheirOwn) {
  const test::TraceRig rig(test::lineOf(24, 6), labels_, plan_, 1);
  const CompiledGraphs& graphs = rig.graphs(0);
  TraceFile file(folder_ / "part", {});
  // The reduction of run 0 ends beside run 1, also where its record is written apart; that of run 1 before
  // run 2 begins.
  TraceRecords first;
  first.steps = {stepWithReduction(graphs.plans[0], 0, 0, 45)};
  TraceRecords second;
  second.steps = {stepWithReduction(graphs.plans[0], 1, 20, 38),
                  stepWithReduction(graphs.plans[0], 2, 40, 60)};
  file.write(first, graphs);
  file.write(second, graphs);
  file.close();
  joinTraces({folder_ / "part"}, folder_ / "trace.json.gz");

  const Json trace = Json::parse(unzipped(folder_ / "trace.json.gz"));
  const StrictViewer seen(trace);
  std::vector<std::string> slices;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "reduction") continue;
    slices.push_back(seen.laneNames().at({0, event.at("tid").get<int>()}) + ": " + event.at("ts").dump() +
                     "+" + event.at("dur").dump());
  }
  EXPECT_THAT(slices, ::testing::UnorderedElementsAre("reductions 0: 11+34", "reductions 1: 31+7",
                                                      "reductions 0: 51+9"));
}

TEST_F(TraceFileTest, APartThatIsThereIsNotOverwritten) {
  std::ofstream(folder_ / "part") << "precious";
  try {
    const TraceFile file(folder_ / "part", {});
    FAIL() << "the file was opened";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("File exists"));
    EXPECT_THAT(error.message(), HasSubstr("--trace=FILE"));
  }
}

}  // namespace
}  // namespace tessera
