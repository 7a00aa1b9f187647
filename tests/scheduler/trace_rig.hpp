#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/transport/loopback_transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/graph_compiler.hpp"

namespace tessera::test {

/// A rank of a loopback world whose messages of others take `delay` on the way, and come no earlier than
/// `mayArrive` says, where it is given.
class SlowTransport final : public Transport {
 public:
  SlowTransport(Transport& inner, std::chrono::microseconds delay, std::function<bool()> mayArrive = {})
      : inner_(inner), delay_(delay), mayArrive_(std::move(mayArrive)) {}

  /// Of minima that are started from now on: they come so much later, and no earlier than `mayArrive` says.
  void holdMinima(std::function<bool()> mayArrive, std::chrono::microseconds delay = {}) {
    minimumMayArrive_ = std::move(mayArrive);
    minimumDelay_ = delay;
  }

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::int64_t tagBound() const override { return inner_.tagBound(); }
  Request send(int peer, std::int64_t tag, std::span<const std::byte> bytes) override {
    return inner_.send(peer, tag, bytes);
  }
  Request receive(int peer, std::int64_t tag, std::span<std::byte> bytes) override {
    const Request request = inner_.receive(peer, tag, bytes);
    held_[request] = {std::chrono::steady_clock::now() + delay_, mayArrive_};
    return request;
  }
  Request allReduceMin(std::span<double> values) override {
    const Request request = inner_.allReduceMin(values);
    held_[request] = {std::chrono::steady_clock::now() + minimumDelay_, minimumMayArrive_};
    return request;
  }
  Request allReduceMax(std::span<double> values) override { return inner_.allReduceMax(values); }
  Request allReduceSum(std::span<std::int64_t> values) override { return inner_.allReduceSum(values); }
  bool test(Request request) override {
    const auto at = held_.find(request);
    if (at != held_.end()) {
      if (std::chrono::steady_clock::now() < at->second.since) return false;
      if (at->second.mayArrive && !at->second.mayArrive()) return false;
    }
    if (!inner_.test(request)) return false;
    held_.erase(request);
    return true;
  }
  void barrier() override { inner_.barrier(); }
  void broadcast(std::string& bytes, int root) override { inner_.broadcast(bytes, root); }
  std::vector<std::string> gather(std::string_view bytes, int root) override {
    return inner_.gather(bytes, root);
  }
  [[noreturn]] void abort(int exitCode) override {
    inner_.abort(exitCode);
    throw InternalError("aborted");
  }

 private:
  struct Held {
    std::chrono::steady_clock::time_point since;
    std::function<bool()> mayArrive;
  };

  Transport& inner_;
  std::chrono::microseconds delay_;
  std::function<bool()> mayArrive_;
  std::chrono::microseconds minimumDelay_{0};
  std::function<bool()> minimumMayArrive_;
  std::map<Request, Held> held_;
};

/// How a plan is run under a trace.
struct TraceShape {
  int ranks = 1;
  int threads = 0;  ///< 0: the in-order executor
  int runs = 1;
  std::chrono::milliseconds delay{0};
  std::int64_t budget = Trace::kUsualBudget;
  std::function<bool(int rank)> mayArrive{};  ///< given: messages to the rank come when it says so
};

/// Compiled once for all ranks; runs the only plan under a trace, whose records go to `sink` with their
/// graphs.
class TraceRig {
 public:
  using Sink = std::function<void(int rank, const TraceRecords&, const CompiledGraphs&)>;

  TraceRig(const std::shared_ptr<const Hierarchy>& hierarchy, const LabelTable& labels, const StepPlan& plan,
           int ranks) {
    const RankMap owners = distribute(*hierarchy, ranks);
    const StepPlan* const plans[] = {&plan};
    for (Rank rank = 0; rank < ranks; ++rank) {
      graphs_.push_back(compileGraphs(plans, {hierarchy, &labels, &owners, rank, ranks}));
    }
  }

  const CompiledGraphs& graphs(int rank) const { return graphs_[static_cast<std::size_t>(rank)]; }

  void run(const TraceShape& shape, const Sink& sink) const {
    LoopbackWorld world(shape.ranks);
    const auto origin = Trace::Clock::now();
    runRanks(world, [&](Transport& loopback) {
      const int rank = loopback.rank();
      std::function<bool()> mayArrive;
      if (shape.mayArrive) mayArrive = [&shape, rank] { return shape.mayArrive(rank); };
      SlowTransport transport(loopback, shape.delay, mayArrive);
      const auto data = makeDataWarehouse(graphs(rank));
      const ExecutorOptions patience{.stallSeconds = 20.0};
      const auto executor =
          shape.threads == 0 ? makeInOrderExecutor(patience) : makeThreadsExecutor(shape.threads, patience);
      Trace trace(origin, shape.budget,
                  [&](const TraceRecords& records) { sink(rank, records, graphs(rank)); });
      RunnerOptions options;
      options.trace = &trace;
      StepRunner runner(graphs(rank), *data, transport, *executor, options);
      for (int n = 0; n < shape.runs; ++n) {
        StepInputs inputs;
        inputs.shownStep = n;
        runner.run(0, inputs);
        const SpanOf span(&trace, "output \"after\" the step");
      }
      trace.flush();
    });
  }

 private:
  std::vector<CompiledGraphs> graphs_;
};

/// A line of cells, periodic.
inline std::shared_ptr<const Hierarchy> lineOf(std::int64_t cells, std::int64_t patches) {
  Geometry geometry;
  geometry.cells = {cells, 1, 1};
  geometry.periodic = {true, true, true};
  return Hierarchy::uniform(geometry, {Division::By::Patches, {patches, 1, 1}});
}

}  // namespace tessera::test
