#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/device/lane/device_span.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// What one node of a graph did in one step; nanoseconds of the trace's clock.
struct NodeTimes {
  std::int64_t begin = -1;
  std::int64_t end = -1;   ///< its worker was free again
  std::int64_t done = -1;  ///< it had finished: `end`, or when its message, reduction or work on a device was
                           ///< seen to be complete; -1: nobody on the host asked the device
  std::int32_t worker = -1;  ///< -1: it has not run
};

/// One run of one plan on this rank. When a node became ready is not recorded: it is the latest `done` of its
/// predecessors, which the graph knows.
struct TracedStep {
  std::size_t plan = 0;
  std::int64_t run = 0;   ///< counts the runs of all plans from 0, the same on every rank
  std::int64_t step = 0;  ///< as people count
  double time = 0.0;
  double dt = 0.0;
  std::int64_t begin = 0;
  std::int64_t executed = 0;  ///< all nodes have finished; until `end` it waits for what all ranks combine
  std::int64_t end = 0;  ///< of this rank's own part: reductions may be complete later, beside the next step
  /// When the length of the step was known; until then only what does not use it could run. -1: before it
  /// began.
  std::int64_t dtKnown = -1;
  bool isOpen = false;           ///< reductions are under way: `done` of their nodes may still change
  std::int64_t memoryBytes = 0;  ///< of the process, resident
  std::vector<NodeTimes> nodes;  ///< by node
};

/// Work of the calling thread between steps, "checkpoint" for example.
struct TraceSpan {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A part of a trace: some steps, and what was done between them.
struct TraceRecords {
  std::vector<TracedStep> steps;
  std::vector<TraceSpan> spans;  ///< by `end`; one may lie inside another, and steps inside a span
  /// What devices did: by `begin` for each device, also over all parts of a trace. Those of one stream do not
  /// overlap.
  std::vector<DeviceSpan> onDevices;
};

/// Has records of its own for a trace. Asked by the thread that steps, between steps.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  /// A step is about to begin.
  virtual void beforeStep() = 0;
  /// The trace is about to be flushed: waits for what is under way and adds all of it.
  virtual void giveAll() = 0;
};

/// Records what the workers of one rank do. A step writes into memory that was made before it began: no lock
/// and no allocation while it runs. One object a rank:
///
///   Trace trace(origin, Trace::kUsualBudget, [&](const TraceRecords& r) { file.write(r); });
///   StepRunner runner(graphs, data, transport, *executor, {.trace = &trace});
///   ...
///   trace.flush();
///
/// Threads: `ran` by all workers at once for different nodes, `finished` by the one that looks after
/// messages; all else by the thread that calls the runner, between steps.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  /// Takes the records off: a copy is not kept.
  using Sink = std::function<void(const TraceRecords&)>;
  /// Bytes: eight million nodes, about.
  static constexpr std::int64_t kUsualBudget = std::int64_t{256} << 20;

  /// Times count from `origin`. `sink` is called between steps when the records take more than `budget`
  /// bytes, and by `flush`.
  Trace(Clock::time_point origin, std::int64_t budget, Sink sink);

  /// Nanoseconds from the origin to `at`.
  std::int64_t nanoseconds(Clock::time_point at) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at - origin_).count();
  }
  std::int64_t now() const { return nanoseconds(Clock::now()); }

  void beginStep(const TracedStep& head, std::int64_t nodes);
  /// Node `node` has run on `worker`. Not `finished`: it goes on without a worker.
  void ran(NodeId node, int worker, Clock::time_point begin, Clock::time_point end, bool finished) {
    NodeTimes& times = nodes_[node.index()];
    times.begin = nanoseconds(begin);
    times.end = nanoseconds(end);
    times.worker = worker;
    if (finished) times.done = times.end;
  }
  /// What node `node` had started is complete.
  void finished(NodeId node) { nodes_[node.index()].done = now(); }
  /// The running step's nodes, for those who finish later than the step ends.
  NodeTimes* nodes() { return nodes_; }
  /// Keeps the record of the running step here until `closeStep` gets this number.
  std::int64_t openStep();
  void closeStep(std::int64_t run);
  /// The length of the running step has become known; by the one that looks after messages.
  void takeDt(double dt);
  void executed() { records_.steps.back().executed = now(); }
  void endStep();

  void openSpan() { ++openSpans_; }
  void closeSpan(std::string_view name, Clock::time_point begin);

  /// The step that was begun last, by its `run`; -1 before the first.
  std::int64_t lastRun() const { return runs_ - 1; }
  /// The same text, kept as long as the trace.
  std::string_view lasting(const std::string& text) { return *names_.insert(text).first; }
  /// Between steps; each device's in the order of their begin.
  void add(std::span<const DeviceSpan> onDevice);
  /// Asks `source` before each step and at each `flush`, until it is removed.
  void addSource(TraceSource& source) { sources_.push_back(&source); }
  void removeSource(TraceSource& source) { std::erase(sources_, &source); }

  /// Hands everything to the sink, that of all sources too.
  void flush();

 private:
  void flushWhereFull();
  void handOn(std::size_t steps);

  Clock::time_point origin_;
  std::int64_t budget_;
  Sink sink_;
  TraceRecords records_;
  std::set<std::string> names_;
  std::vector<TraceSource*> sources_;
  std::int64_t bytes_ = 0;
  std::int64_t runs_ = 0;
  int openSpans_ = 0;
  NodeTimes* nodes_ = nullptr;  ///< of the running step
};

/// Records a span for the lifetime of the object, where there is a trace:
///
///   const SpanOf span(trace, "checkpoint");
class SpanOf {
 public:
  SpanOf(Trace* trace, std::string_view name) : trace_(trace), name_(name) {
    if (trace_ == nullptr) return;
    begin_ = Trace::Clock::now();
    trace_->openSpan();
  }
  ~SpanOf() {
    if (trace_ != nullptr) trace_->closeSpan(name_, begin_);
  }
  SpanOf(const SpanOf&) = delete;
  SpanOf& operator=(const SpanOf&) = delete;

 private:
  Trace* trace_;
  std::string_view name_;
  Trace::Clock::time_point begin_;
};

}  // namespace tessera
