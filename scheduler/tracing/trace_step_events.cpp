#include "scheduler/tracing/trace_step_events.hpp"

#include <algorithm>

#include "scheduler/step/step_gate.hpp"
#include "scheduler/tracing/trace_event.hpp"

namespace tessera::detail {
namespace {

std::int32_t laneOf(TraceLane lane) { return static_cast<std::int32_t>(lane); }

/// As the number of a predecessor: the length of the step, from the reductions of the step before.
constexpr NodeId kAfterDt{-2};

const char* categoryOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::Task:
      return "task";
    case NodeKind::Fill:
      return "fill";
    case NodeKind::Send:
      return "pack";
    default:
      return "join";
  }
}

/// A moment inside the slice, for the end of an arrow: at its very end a viewer would take it for outside.
std::int64_t lastMoment(std::int64_t begin, std::int64_t end) { return std::max(begin, end - 1); }

}  // namespace

StepEvents::StepEvents(const CompiledGraphs& graphs, std::size_t plan, const TraceFileOptions& options)
    : graphs_(graphs), graph_(graphs.plans[plan]), options_(options), names_(graphs, plan) {}

bool StepEvents::goesOn(NodeId node) const {
  const NodeKind kind = graph_.block(node).kind;
  return kind != NodeKind::Task && kind != NodeKind::Fill;
}

void StepEvents::append(const TracedStep& step, std::string& text, std::set<std::int32_t>& lanes,
                        std::map<std::int32_t, std::int64_t>& freeFrom) {
  freeFrom_ = &freeFrom;
  text_ = &text;
  findReady(step);
  cutSlices(step);
  appendHead(step);
  lanes.insert(laneOf(TraceLane::Steps));
  for (const Slice& slice : slices_) {
    lanes.insert(slice.lane);
    // In the order of time within the slice.
    appendSlice(step, slice);
    appendEdgesInto(step, slice);
    appendMessageArrow(step, slice);
    appendEdgesOutOf(step, slice);
  }
}

/// A node is ready when the last of its predecessors has finished, and the length of the step is known where
/// it uses that.
void StepEvents::findReady(const TracedStep& step) {
  const std::size_t count = step.nodes.size();
  ready_.assign(count, step.begin);
  after_.assign(count, NodeId());
  if (options_.edges) before_.assign(count, {});
  for (const NodeId node : ready_.ids()) {
    const NodeTimes& times = step.nodes[node.index()];
    if (times.worker < 0) continue;
    for (const NodeId to : graph_.successors(node)) {
      if (options_.edges && hasArrow(step, node, to)) before_[to].push_back(node);
      if (times.done < 0 || (after_[to].isSome() && times.done <= ready_[to])) continue;
      ready_[to] = times.done;
      after_[to] = node;
    }
  }
  for (const NodeId node : ready_.ids()) {
    if (step.dtKnown <= ready_[node] || graph_.isSpare(node) || !usesDt(graph_, node)) continue;
    ready_[node] = step.dtKnown;
    after_[node] = kAfterDt;
  }
}

void StepEvents::cutSlices(const TracedStep& step) {
  slices_.clear();
  std::vector<Slice> messages;
  std::vector<Slice> reductions;
  for (const NodeId node : ready_.ids()) {
    const NodeTimes& times = step.nodes[node.index()];
    if (times.worker < 0) continue;
    const NodeKind kind = graph_.block(node).kind;
    if (kind != NodeKind::Receive) {
      slices_.push_back({node, laneOf(TraceLane::FirstWorker) + times.worker, times.begin, times.end, false});
    }
    if (!goesOn(node) || times.done < 0) continue;
    const std::int64_t begin = kind == NodeKind::Receive ? times.begin : times.end;
    auto& list = kind == NodeKind::Reduce ? reductions : messages;
    list.push_back({node, 0, begin, std::max(begin, times.done), true});
  }
  lay(messages, laneOf(TraceLane::Messages));
  lay(reductions, laneOf(TraceLane::Reductions));
  std::stable_sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.begin < b.begin;
  });
}

/// Slices of one lane do not overlap, also not with those of steps before: each goes to the first that is
/// free.
void StepEvents::lay(std::vector<Slice>& slices, std::int32_t firstLane) {
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.node < b.node;
  });
  for (Slice& slice : slices) {
    slice.lane = firstLane;
    while (freeFrom_->try_emplace(slice.lane, slice.begin).first->second > slice.begin) ++slice.lane;
    (*freeFrom_)[slice.lane] = slice.end;
    slices_.push_back(slice);
  }
}

void StepEvents::appendHead(const TracedStep& step) {
  const std::string& plan = graph_.plan->name();
  TraceEvent(*text_, 'X', options_.rank, laneOf(TraceLane::Steps))
      .name(plan + " " + std::to_string(step.step))
      .category("step")
      .at(step.begin)
      .lasts(step.end - step.begin)
      .arg("run", step.run)
      .arg("step", step.step)
      .arg("plan", plan)
      .argNumber("time", step.time)
      .argNumber("dt", step.dt)
      .arg("workers", std::int64_t{options_.workers})
      .argTime("executed", step.executed)
      .end();
  TraceEvent(*text_, 'C', options_.rank, laneOf(TraceLane::Steps))
      .name("memory")
      .category("memory")
      .at(step.end)
      .argNumber("resident MB", static_cast<double>(step.memoryBytes) / 1e6)
      .end();
}

void StepEvents::appendSlice(const TracedStep& step, const Slice& slice) {
  if (!slice.goesOn) return appendWork(step, slice);
  const NodeBlock& block = graph_.block(slice.node);
  const auto item = static_cast<std::size_t>(block.item + (slice.node - block.firstNode));
  if (block.kind == NodeKind::Send) return appendMessage(step, slice, graph_.sends[item], true);
  if (block.kind == NodeKind::Receive) return appendMessage(step, slice, graph_.receives[item], false);
  appendReduction(step, slice);
}

void StepEvents::appendWork(const TracedStep& step, const Slice& slice) {
  const NodeBlock& block = graph_.block(slice.node);
  TraceEvent event(*text_, 'X', options_.rank, slice.lane);
  event.name(names_.work(slice.node))
      .category(categoryOf(block.kind))
      .at(slice.begin)
      .lasts(slice.end - slice.begin)
      .arg("run", step.run)
      .arg("node", std::int64_t{slice.node.value()})
      .arg("after", std::int64_t{after_[slice.node].value()})
      .argTime("ready", ready_[slice.node]);
  const bool hasPatch =
      block.kind == NodeKind::Fill || (block.kind == NodeKind::Task && graph_.unitOf(block).hasPatch());
  if (hasPatch) {
    const auto local = static_cast<std::size_t>(block.firstLocal + (slice.node - block.firstNode));
    const Patch& patch = graphs_.hierarchy->patch(graphs_.ownPatches[local]);
    event.arg("patch", std::int64_t{patch.id}).arg("level", std::int64_t{patch.level});
  }
  // A device has the node then. If no node of the host waits for it, its end was not recorded.
  const std::int64_t done = step.nodes[slice.node.index()].done;
  if (!goesOn(slice.node) && done != slice.end) event.argTime("done", done < 0 ? slice.end : done);
  event.arg("step", step.step).end();
}

void StepEvents::appendMessage(const TracedStep& step, const Slice& slice, const MessagePlan& message,
                               bool isSend) {
  TraceEvent(*text_, 'X', options_.rank, slice.lane)
      .name(names_.wait(slice.node))
      .category(isSend ? "send" : "receive")
      .at(slice.begin)
      .lasts(slice.end - slice.begin)
      .arg("run", step.run)
      .arg("node", std::int64_t{slice.node.value()})
      .arg("after", std::int64_t{after_[slice.node].value()})
      .argTime("ready", ready_[slice.node])
      .arg("peer", std::int64_t{message.peer})
      .arg("tag", message.tag)
      .arg("bytes", message.bytes)
      .arg("step", step.step)
      .end();
}

void StepEvents::appendReduction(const TracedStep& step, const Slice& slice) {
  const NodeBlock& block = graph_.block(slice.node);
  const auto item = static_cast<std::size_t>(block.item + (slice.node - block.firstNode));
  TraceEvent(*text_, 'X', options_.rank, slice.lane)
      .name(names_.wait(slice.node))
      .category("reduction")
      .at(slice.begin)
      .lasts(slice.end - slice.begin)
      .arg("run", step.run)
      .arg("node", std::int64_t{slice.node.value()})
      .arg("reduction", static_cast<std::int64_t>(item))
      .arg("step", step.step)
      .end();
}

/// From a send to its receive, on another rank.
void StepEvents::appendMessageArrow(const TracedStep& step, const Slice& slice) {
  const NodeBlock& block = graph_.block(slice.node);
  const bool isSend = block.kind == NodeKind::Send;
  if (!slice.goesOn || (!isSend && block.kind != NodeKind::Receive)) return;
  const auto item = static_cast<std::size_t>(block.item + (slice.node - block.firstNode));
  const MessagePlan& message = isSend ? graph_.sends[item] : graph_.receives[item];
  const std::int64_t from = isSend ? options_.rank : message.peer;
  const std::int64_t to = isSend ? message.peer : options_.rank;
  TraceEvent arrow(*text_, isSend ? 's' : 'f', options_.rank, slice.lane);
  arrow.name("message").category("message").id(arrowId(step.run, from, to, message.tag));
  if (!isSend) arrow.endsInSlice();
  arrow.at(isSend ? slice.begin : lastMoment(slice.begin, slice.end)).end();
}

void StepEvents::appendEdge(const TracedStep& step, const Slice& slice, char phase, NodeId from, NodeId to) {
  TraceEvent event(*text_, phase, options_.rank, slice.lane);
  event.name("dependency")
      .category("edge")
      .id(arrowId(step.run, options_.rank, from.value(), std::int64_t{to.value()} + (std::int64_t{1} << 40)));
  if (phase == 'f') event.endsInSlice();
  event.at(phase == 'f' ? slice.begin : lastMoment(slice.begin, slice.end)).end();
}

/// Where both have run. Nodes of a device may be handed to it in any order: then there is none.
bool StepEvents::hasArrow(const TracedStep& step, NodeId from, NodeId to) const {
  const NodeTimes& first = step.nodes[from.index()];
  const NodeTimes& then = step.nodes[to.index()];
  return then.worker >= 0 && (goesOn(from) || then.begin >= first.end);
}

/// Into the slice in which the node begins. A send's own two slices are not joined: they touch.
void StepEvents::appendEdgesInto(const TracedStep& step, const Slice& slice) {
  const bool isFirst = !slice.goesOn || graph_.block(slice.node).kind == NodeKind::Receive;
  if (!options_.edges || !isFirst) return;
  for (const NodeId from : before_[slice.node]) {
    appendEdge(step, slice, 'f', from, slice.node);
  }
}

/// Out of the slice in which the node finishes.
void StepEvents::appendEdgesOutOf(const TracedStep& step, const Slice& slice) {
  const bool isLast = slice.goesOn || !goesOn(slice.node);
  if (!options_.edges || !isLast) return;
  for (const NodeId to : graph_.successors(slice.node)) {
    if (hasArrow(step, slice.node, to)) appendEdge(step, slice, 's', slice.node, to);
  }
}

}  // namespace tessera::detail
