#include "scheduler/trace.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/profile/resident_memory.hpp"

namespace tessera {

Trace::Trace(Clock::time_point origin, std::int64_t budget, Sink sink)
    : origin_(origin), budget_(budget), sink_(std::move(sink)) {}

void Trace::beginStep(const TracedStep& head, std::int64_t nodes) {
  for (TraceSource* source : sources_) source->beforeStep();
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

std::int64_t Trace::openStep() {
  records_.steps.back().isOpen = true;
  return records_.steps.back().run;
}

/// It is among the last ones.
void Trace::closeStep(std::int64_t run) {
  for (auto step = records_.steps.rbegin(); step != records_.steps.rend(); ++step) {
    if (step->run != run) continue;
    step->isOpen = false;
    return;
  }
}

void Trace::takeDt(double dt) {
  records_.steps.back().dt = dt;
  records_.steps.back().dtKnown = now();
}

/// Not inside a span: it belongs before what it contains.
void Trace::flushWhereFull() {
  if (bytes_ <= budget_ || openSpans_ > 0) return;
  const auto open = std::find_if(records_.steps.begin(), records_.steps.end(),
                                 [](const TracedStep& step) { return step.isOpen; });
  if (open == records_.steps.begin() && open != records_.steps.end()) return;
  const Clock::time_point begin = Clock::now();
  handOn(static_cast<std::size_t>(open - records_.steps.begin()));
  records_.spans.push_back({"write the trace", nanoseconds(begin), now()});
}

void Trace::add(std::span<const DeviceSpan> onDevice) {
  records_.onDevices.insert(records_.onDevices.end(), onDevice.begin(), onDevice.end());
  bytes_ += static_cast<std::int64_t>(onDevice.size_bytes());
}

void Trace::flush() {
  for (TraceSource* source : sources_) source->giveAll();
  handOn(records_.steps.size());
}

/// The first `steps`; moving the others leaves their nodes where they are.
void Trace::handOn(std::size_t steps) {
  const auto rest = records_.steps.begin() + static_cast<std::ptrdiff_t>(steps);
  std::vector<TracedStep> kept(std::make_move_iterator(rest), std::make_move_iterator(records_.steps.end()));
  records_.steps.erase(rest, records_.steps.end());
  sink_(records_);
  records_ = {};
  records_.steps = std::move(kept);
  bytes_ = 0;
  for (const TracedStep& step : records_.steps) {
    bytes_ += std::ssize(step.nodes) * static_cast<std::int64_t>(sizeof(NodeTimes)) +
              static_cast<std::int64_t>(sizeof(TracedStep));
  }
}

}  // namespace tessera
