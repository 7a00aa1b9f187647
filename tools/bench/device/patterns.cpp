// tessera_device_patterns: the dependence patterns of Task Bench as tasks of a GPU (or of the emulated
// device), through a lane and as one graph of the device; METG(50 %).
//
//   tessera_device_patterns [--device cuda] [--type stencil_1d,fft] [--width 128] [--steps 100]
//
// A task is one block that keeps a multiprocessor busy, so a row of as many tasks as there are
// multiprocessors keeps all of them busy. The granularity of tasks is the time of a row. Every way is
// verified once: each task leaves a number that depends on those of all that it waits for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/text/error.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/device/backend/emulated_device.hpp"
#include "scheduler/device/lane/plan_capture.hpp"
#include "tools/bench/device/pattern_kernels.hpp"
#include "tools/bench/device/stream_split.hpp"
#include "tools/bench/figure_lines.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/taskbench/metg.hpp"
#include "tools/bench/taskbench/pattern_graph.hpp"

namespace tessera::bench {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Memory of a device, filled once.
template <class T>
class Uploaded {
 public:
  Uploaded(DeviceBackend& device, DeviceStream stream, const std::vector<T>& values) : device_(device) {
    const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(1, values.size()) * sizeof(T));
    data_ = static_cast<T*>(device.allocate(DeviceSpace::Device, bytes));
    if (values.empty()) return;
    device.copy(stream, CopyDirection::HostToDevice, data_, values.data(), bytes);
    device.synchronize(stream);
  }
  ~Uploaded() { device_.release(DeviceSpace::Device, data_); }
  Uploaded(const Uploaded&) = delete;
  Uploaded& operator=(const Uploaded&) = delete;
  T* data() const { return data_; }

 private:
  DeviceBackend& device_;
  T* data_ = nullptr;
};

/// One pattern's tasks, on the device and as a lane's plan.
class PatternTasks : public LaneClient {
 public:
  PatternTasks(DeviceBackend& device, const Pattern& pattern)
      : device_(device), graph_(graphOf(pattern)), stream_(device.makeStream()) {
    const auto count = static_cast<std::size_t>(graph_.tasks());
    std::vector<std::vector<std::int32_t>> before(count);
    for (std::int32_t n = 0; n < graph_.tasks(); ++n) {
      plan_.tasks.push_back({graph_.places[static_cast<std::size_t>(n)].step % 2, 1, false});
      for (const std::int32_t next : graph_.successors.of(n)) {
        plan_.edges.emplace_back(n, next);
        before[static_cast<std::size_t>(next)].push_back(n);
      }
    }
    upload(before);
  }

  const LanePlan& plan() const { return plan_; }
  std::int64_t count() const { return graph_.tasks(); }
  void setIterations(std::int64_t iterations) { iterations_ = iterations; }
  void put(std::span<const std::int32_t> tasks, DeviceStream stream) {
    putPatternTasks(device_, stream, tasks_->data(), tasks, iterations_);
  }
  void launch(std::int32_t, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override {
    put(tasks, streams.front());
  }

  void reset() {
    device_.fill(stream_, stamps_->data(), 0, count() * 8);
    device_.synchronize(stream_);
  }
  /// Throws InternalError where a task has started before what it waits for.
  void verify(const std::string& what) {
    std::vector<std::uint64_t> found(static_cast<std::size_t>(count()));
    device_.copy(stream_, CopyDirection::DeviceToHost, found.data(), stamps_->data(), count() * 8);
    device_.synchronize(stream_);
    if (found != expected_) {
      throw InternalError(what + ": a task has not found what its inputs leave; an order was lost");
    }
  }

 private:
  void upload(const std::vector<std::vector<std::int32_t>>& before) {
    std::vector<std::int32_t> inputs;
    for (const auto& list : before) inputs.insert(inputs.end(), list.begin(), list.end());
    expected_.assign(before.size(), 0);
    stamps_ = std::make_unique<Uploaded<std::uint64_t>>(device_, stream_, expected_);
    inputs_ = std::make_unique<Uploaded<std::int32_t>>(device_, stream_, inputs);
    std::vector<PatternTask> tasks;
    const std::int32_t* next = inputs_->data();
    for (std::size_t n = 0; n < before.size(); ++n) {
      const auto inputCount = static_cast<std::int32_t>(before[n].size());
      tasks.push_back({stamps_->data(), next, inputCount, static_cast<std::int32_t>(n)});
      next += inputCount;
      // Rows follow each other, so the inputs' are there.
      expected_[n] = stampOf(static_cast<std::int32_t>(n), inputCount, [&](std::int32_t input) {
        return expected_[static_cast<std::size_t>(before[n][static_cast<std::size_t>(input)])];
      });
    }
    tasks_ = std::make_unique<Uploaded<PatternTask>>(device_, stream_, tasks);
  }

  DeviceBackend& device_;
  const ReplayGraph graph_;
  const DeviceStream stream_;
  LanePlan plan_;
  std::int64_t iterations_ = 0;
  std::vector<std::uint64_t> expected_;
  std::unique_ptr<Uploaded<std::uint64_t>> stamps_;
  std::unique_ptr<Uploaded<std::int32_t>> inputs_;
  std::unique_ptr<Uploaded<PatternTask>> tasks_;
};

/// A way to run all tasks of a pattern.
class Way {
 public:
  virtual ~Way() = default;
  /// Before runs of this length of tasks.
  virtual void prepare() {}
  /// From the first launch until the device is idle.
  virtual void run() = 0;
};

class LaneWay : public Way {
 public:
  LaneWay(DeviceBackend& device, PatternTasks& tasks, const LaneOptions& options)
      : tasks_(tasks), lane_(device, options), work_(lane_.prepare(tasks.plan())) {}
  void run() override {
    lane_.begin(*work_, tasks_);
    lane_.submit(0, static_cast<std::int32_t>(tasks_.count()));
    while (!lane_.allLaunched()) lane_.serve([](std::int32_t) {});
    lane_.synchronize();
  }

 private:
  PatternTasks& tasks_;
  DeviceLane lane_;
  std::unique_ptr<LaneWork> work_;
};

class GraphWay : public Way {
 public:
  GraphWay(DeviceBackend& device, PatternTasks& tasks, const LaneOptions& options)
      : device_(device),
        tasks_(tasks),
        captures_(device, tasks.plan(), options),
        stream_(device.makeStream()) {}
  ~GraphWay() override {
    if (graph_.number >= 0) device_.releaseGraph(graph_);
  }
  GraphWay(const GraphWay&) = delete;
  GraphWay& operator=(const GraphWay&) = delete;

  void prepare() override {
    if (graph_.number >= 0) device_.releaseGraph(graph_);
    graph_ = captures_.capture([this](std::size_t n, std::span<const DeviceStream> streams) {
      tasks_.put(captures_.batches()[n].tasks, streams.front());
    });
  }
  void run() override {
    device_.launchGraph(stream_, graph_, "pattern");
    device_.synchronize(stream_);
  }

 private:
  DeviceBackend& device_;
  PatternTasks& tasks_;
  PlanCapture captures_;
  const DeviceStream stream_;
  DeviceGraph graph_;
};

struct Request {
  std::string device = "cuda";
  std::vector<std::string> types{"trivial", "stencil_1d", "nearest", "spread", "fft", "tree", "all_to_all"};
  Pattern pattern;
  std::int64_t longest = 4096;
  int sweeps = 3;
  LaneOptions lane;
  bool lines = false;
};

/// Of one pattern run in one way.
struct Result {
  std::string type;
  const char* way = "";
  std::vector<std::vector<SweepPoint>> sweeps;
  double shortest = 1e30;  ///< seconds of a row of tasks of one iteration
};

Result sweep(const Request& r, PatternTasks& tasks, Way& way, const std::string& type, const char* name) {
  Result result{type, name, {}, 1e30};
  tasks.reset();
  tasks.setIterations(1);
  way.prepare();
  way.run();
  tasks.verify(type + ", " + name);
  for (int n = 0; n < r.sweeps; ++n) {
    std::vector<SweepPoint>& points = result.sweeps.emplace_back();
    for (std::int64_t length = r.longest; length > 0; length /= 2) {
      tasks.setIterations(length);
      way.prepare();
      way.run();
      double best = 1e30;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const double begin = seconds();
        way.run();
        best = std::min(best, seconds() - begin);
      }
      const auto count = static_cast<double>(tasks.count());
      points.push_back({best * r.pattern.width / count, count * static_cast<double>(length) / best});
      result.shortest = std::min(result.shortest, points.back().granularity);
    }
  }
  return result;
}

void print(const Request& r, const Result& result, double peak) {
  std::vector<Metg> metgs;
  for (const auto& points : result.sweeps) metgs.push_back(metgOf(points, peak));
  const MetgSpread spread = spreadOf(std::move(metgs));
  const FigureLines lines(r.lines);
  const bool open = spread.median.bound == Metg::Bound::MoreThan;
  std::fprintf(lines.table(), "%-12s %-10s  METG(50 %%) %s%8.2f us (%.2f to %.2f)  shortest row %8.2f us\n",
               result.type.c_str(), result.way, open ? ">" : " ", spread.median.granularity * 1e6,
               spread.least.granularity * 1e6, spread.greatest.granularity * 1e6, result.shortest * 1e6);
  lines.add("metg_" + result.type + "_" + result.way, spread.median.granularity * 1e6, "us", "<10");
}

int run(int argc, char** argv) {
  Request r;
  r.pattern.width = 128;
  r.pattern.steps = 100;
  CLI::App app{"Patterns of Task Bench on devices"};
  app.add_option("--device", r.device, "cuda, emulated")->capture_default_str();
  app.add_option("--type", r.types, "patterns")->delimiter(',')->capture_default_str();
  app.add_option("--width", r.pattern.width, "tasks of a row")->capture_default_str();
  app.add_option("--steps", r.pattern.steps, "rows")->capture_default_str();
  app.add_option("--longest", r.longest, "iterations of the longest tasks")->capture_default_str();
  app.add_option("--sweeps", r.sweeps, "repetitions")->capture_default_str();
  app.add_option("--streams", r.lane.streams, "of the lane")->capture_default_str();
  app.add_option("--batch", r.lane.largestBatch, "tasks of a launch")->capture_default_str();
  app.add_flag("--lines", r.lines, "one figure a line, for programs");
  CLI11_PARSE(app, argc, argv);
  if (r.longest < 2 || r.sweeps < 1) throw UsageError("write --longest 2 or more, and --sweeps 1 or more");
  EmulatedOptions emulated;
  emulated.longestDelay = std::chrono::microseconds(0);
  const auto device = r.device == "cuda" ? makeCudaDevice(0) : makeEmulatedDevice(emulated);
  std::vector<Result> results;
  for (const std::string& type : r.types) {
    r.pattern.kind = patternOf(type);
    expectValid(r.pattern);
    PatternTasks tasks(*device, r.pattern);
    LaneWay lane(*device, tasks, r.lane);
    results.push_back(sweep(r, tasks, lane, type, "lane"));
    GraphWay graph(*device, tasks, r.lane);
    results.push_back(sweep(r, tasks, graph, type, "graph"));
  }
  double peak = 0.0;
  for (const Result& result : results) {
    for (const auto& points : result.sweeps) {
      for (const SweepPoint& point : points) peak = std::max(peak, point.rate);
    }
  }
  for (const Result& result : results) print(r, result, peak);
  measureStreamSplit(*device, FigureLines(r.lines));
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::runMain("tessera_device_patterns", tessera::bench::run, argc, argv);
}
