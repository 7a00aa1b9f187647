#include "scheduler/trace.hpp"

#include "core/resident_memory.hpp"

namespace tessera {

Trace::Trace(Clock::time_point origin, std::int64_t budget, Sink sink)
    : origin_(origin), budget_(budget), sink_(std::move(sink)) {}

void Trace::beginStep(const TracedStep& head, std::int64_t nodes) {
  TracedStep& step = records_.steps.emplace_back(head);
  step.run = runs_++;
  step.nodes.resize(static_cast<std::size_t>(nodes));
  nodes_ = step.nodes.data();
  bytes_ +=
      nodes * static_cast<std::int64_t>(sizeof(NodeTimes)) + static_cast<std::int64_t>(sizeof(TracedStep));
  step.begin = now();
}

void Trace::endStep() {
  TracedStep& step = records_.steps.back();
  step.end = now();
  step.memoryBytes = residentBytes();
  nodes_ = nullptr;
  flushWhereFull();
}

void Trace::closeSpan(std::string_view name, Clock::time_point begin) {
  records_.spans.push_back({std::string(name), nanoseconds(begin), now()});
  bytes_ += static_cast<std::int64_t>(sizeof(TraceSpan));
  --openSpans_;
  flushWhereFull();
}

/// Not inside a span: it belongs before what it contains.
void Trace::flushWhereFull() {
  if (bytes_ <= budget_ || openSpans_ > 0) return;
  const Clock::time_point begin = Clock::now();
  flush();
  records_.spans.push_back({"write the trace", nanoseconds(begin), now()});
}

void Trace::flush() {
  sink_(records_);
  records_ = {};
  bytes_ = 0;
}

}  // namespace tessera
