#include "scheduler/graph_replay/graph_replay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/text/error.hpp"
#include "core/transport/step_aside.hpp"
#include "scheduler/device_step/device_side.hpp"

namespace tessera::detail {

GraphReplay::GraphReplay(DeviceSide& side, const LanePlan& plan, const LaneLayout& layout,
                         const PlacedGraph& placed, const std::vector<std::int32_t>& segments,
                         DeviceNodes& nodes, const StepInputs& inputs, PlanBuffers configuration)
    : backend_(*side.backend),
      lane_(side.lane),
      tables_(side.tables),
      pinned_(side.pinned),
      nodes_(nodes),
      inputs_(inputs),
      buffers_(std::move(configuration)),
      watched_(nodes.watch().add("replay of " + nodes.planName(), DeviceWork::Kernel)),
      positions_(plan.tasks.size()),
      memoryStream_(backend_.makeStream()) {
  for (const std::int32_t node : layout.nodes()) {
    segmentOf_.push_back(segments[static_cast<std::size_t>(node)]);
  }
  makeSegments(plan);
  countNodes(layout, placed);
  prepareLane(plan, segmentPeers(placed, segments, static_cast<DeviceAssignment>(side.slot)));
  captured_.reserve(kMostCaptured);
}

void GraphReplay::countNodes(const LaneLayout& layout, const PlacedGraph& placed) {
  for (std::size_t task = 0; task < segmentOf_.size(); ++task) {
    if (!placed.ofExecutor(layout.nodes()[task])) continue;
    ++segments_[static_cast<std::size_t>(segmentOf_[task])].nodes;
  }
  missing_ = std::vector<std::atomic<std::int32_t>>(segments_.size());
}

void GraphReplay::makeSegments(const LanePlan& plan) {
  std::vector<std::int32_t> numberIn(plan.tasks.size());  // among the tasks of its segment
  std::vector<LanePlan> plans;
  for (std::size_t n = 0; n < plan.tasks.size(); ++n) {
    const auto s = static_cast<std::size_t>(segmentOf_[n]);
    if (s >= segments_.size()) segments_.resize(s + 1);
    if (s >= plans.size()) plans.resize(s + 1);
    numberIn[n] = static_cast<std::int32_t>(segments_[s].tasks.size());
    segments_[s].tasks.push_back(static_cast<std::int32_t>(n));
    segments_[s].reports = segments_[s].reports || plan.tasks[n].reports;
    plans[s].tasks.push_back(plan.tasks[n]);
  }
  for (const auto& [first, then] : plan.edges) {
    const auto from = static_cast<std::size_t>(first);
    const auto to = static_cast<std::size_t>(then);
    if (segmentOf_[from] != segmentOf_[to]) continue;
    plans[static_cast<std::size_t>(segmentOf_[from])].edges.emplace_back(numberIn[from], numberIn[to]);
  }
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    Segment& segment = segments_[s];
    segment.captures = std::make_unique<PlanCapture>(backend_, plans[s], lane_.options());
    for (const LaunchBatch& captured : segment.captures->batches()) {
      LaunchBatch& batch = segment.batches.emplace_back(captured);
      for (std::int32_t& task : batch.tasks) {
        task = segment.tasks[static_cast<std::size_t>(task)];
        positions_[static_cast<std::size_t>(task)] = {static_cast<std::int32_t>(s),
                                                      static_cast<std::int32_t>(segment.batches.size()) - 1};
      }
    }
  }
}

/// Its tasks are the segments.
void GraphReplay::prepareLane(const LanePlan& plan, const SegmentPeers& peers) {
  LanePlan lane;
  std::set<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::vector<std::int32_t>& tasks = segments_[s].tasks;
    const bool urgent = std::all_of(tasks.begin(), tasks.end(), [&](std::int32_t task) {
      return plan.tasks[static_cast<std::size_t>(task)].urgent;
    });
    lane.tasks.push_back({static_cast<std::int32_t>(s), 1, segments_[s].reports, urgent});
  }
  for (const auto& [first, then] : plan.edges) {
    const std::int32_t from = segmentOf_[static_cast<std::size_t>(first)];
    const std::int32_t to = segmentOf_[static_cast<std::size_t>(then)];
    if (from != to) edges.emplace(from, to);
  }
  lane.edges.assign(edges.begin(), edges.end());
  lane.peerEdges = peers.edges;
  lane.peerPredecessors = peers.predecessors;
  work_ = lane_.prepare(lane);
}

GraphReplay::~GraphReplay() {
  for (const CapturedStep& captured : captured_) {
    for (const Part& part : captured.parts) {
      try {
        waitFor(part);
      } catch (const Error&) {
        continue;  // it was said when it happened
      }
      for (const DeviceMoves::KeptValues& kept : part.values) nodes_.giveValues(kept, memoryStream_);
      if (part.graph.number >= 0) backend_.releaseGraph(part.graph);
    }
  }
}

bool GraphReplay::choose() {
  const std::vector<std::int32_t> configuration = buffers_.now();
  const auto found = std::find_if(captured_.begin(), captured_.end(), [&](const CapturedStep& captured) {
    return captured.configuration == configuration;
  });
  current_ = found == captured_.end() ? nullptr : &*found;
  if (current_ != nullptr) {
    current_->parts.resize(segments_.size());
  } else if (captured_.size() < kMostCaptured) {
    captured_.emplace_back().configuration = configuration;
  }
  return current_ != nullptr;
}

void GraphReplay::begin() {
  lane_.begin(*work_, *this);
  for (std::int32_t s = 0; s < segmentCount(); ++s) {
    const std::int32_t nodes = segments_[static_cast<std::size_t>(s)].nodes;
    missing_[static_cast<std::size_t>(s)].store(nodes, std::memory_order_relaxed);
  }
  for (std::int32_t s = 0; s < segmentCount(); ++s) {
    if (segments_[static_cast<std::size_t>(s)].nodes == 0) lane_.submit(s);
  }
}

/// What others have come to is before the launch.
void GraphReplay::comeTo(std::int32_t task) {
  const std::int32_t segment = segmentOf_[static_cast<std::size_t>(task)];
  std::atomic<std::int32_t>& missing = missing_[static_cast<std::size_t>(segment)];
  if (missing.fetch_sub(1, std::memory_order_acq_rel) == 1) lane_.submit(segment);
}

void GraphReplay::waitFor(const Part& part) {
  StepAside stepAside;
  while (part.ended.number >= 0 && !backend_.isDone(part.ended)) stepAside();
}

void GraphReplay::launch(std::int32_t kind, std::span<const std::int32_t> /*tasks*/,
                         std::span<const DeviceStream> streams) {
  const auto s = static_cast<std::size_t>(kind);
  const Segment& segment = segments_[s];
  Part& part = current_->parts[s];
  const bool isNew = part.graph.number < 0;
  if (isNew) {
    // Tables of the steps before are complete when they are captured.
    backend_.synchronize(streams.front());
    takeMemory(segment, part);
  }
  const bool otherLoops = renewBodies(segment, part, streams.front());
  renewValues(segment, part);
  if (isNew || otherLoops) capture(segment, part);
  part.numbers = {inputs_.time, inputs_.dt};
  part.step = inputs_.step;
  for (const LaunchBatch& batch : segment.batches) nodes_.noteLaunched(batch.kind, batch.tasks);
  LaunchScope scope(nodes_.watch(), watched_, streams, std::ssize(segment.tasks));
  backend_.launchGraph(streams.front(), part.graph, "a captured step");
  scope.carries(part.bytes);
  backend_.record(part.ended, streams.front());
  ++counts_.replays;
}

void GraphReplay::takeMemory(const Segment& segment, Part& part) {
  part.ended = backend_.makeEvent();
  for (const LaunchBatch& batch : segment.batches) {
    const bool bodies = nodes_.hasBodies(batch.kind);
    part.loops.push_back(bodies ? std::make_unique<KeptLoops>(backend_, tables_, pinned_, memoryStream_,
                                                              static_cast<std::int32_t>(batch.streams.size()))
                                : nullptr);
    part.values.push_back(bodies ? DeviceMoves::KeptValues{}
                                 : nodes_.keepValues(batch.kind, batch.tasks, memoryStream_));
  }
}

bool GraphReplay::hasChanged(const Part& part, const KeptLoops& loops) const {
  return part.graph.number < 0 || (loops.hasAsked(StepNumber::Time) && part.numbers[0] != inputs_.time) ||
         (loops.hasAsked(StepNumber::Dt) && part.numbers[1] != inputs_.dt) ||
         (loops.hasAsked(StepNumber::Step) && part.step != inputs_.step);
}

/// Calls bodies whose closures are no longer right. True: their loops are not those of the graph.
bool GraphReplay::renewBodies(const Segment& segment, Part& part, DeviceStream stream) {
  bool otherLoops = false;
  for (std::size_t n = 0; n < segment.batches.size(); ++n) {
    KeptLoops* loops = part.loops[n].get();
    if (loops == nullptr || !hasChanged(part, *loops)) continue;
    const LaunchBatch& batch = segment.batches[n];
    loops->begin();
    for (const std::int32_t task : batch.tasks) nodes_.callBody(task, loops->instance(task));
    counts_.bodiesCalled += std::ssize(batch.tasks);
    const bool fits = loops->fits();
    waitFor(part);  // it reads what is written now
    loops->keep();
    if (!fits) backend_.synchronize(memoryStream_);
    loops->upload(stream);
    otherLoops = otherLoops || !fits;
  }
  return otherLoops;
}

void GraphReplay::renewValues(const Segment& segment, Part& part) {
  for (std::size_t n = 0; n < segment.batches.size(); ++n) {
    if (part.values[n].memory == nullptr) continue;
    waitFor(part);
    nodes_.evaluate(segment.batches[n].kind, segment.batches[n].tasks, part.values[n]);
  }
}

void GraphReplay::capture(const Segment& segment, Part& part) {
  if (part.graph.number >= 0) {
    waitFor(part);
    backend_.releaseGraph(part.graph);
  }
  part.bytes = 0;
  part.graph = segment.captures->capture([&](std::size_t n, std::span<const DeviceStream> streams) {
    const LaunchBatch& batch = segment.batches[n];
    if (part.loops[n] != nullptr) {
      part.loops[n]->put(streams, order_);
      order_ = opposite(order_);
    } else {
      part.bytes += nodes_.captureMoves(batch.kind, batch.tasks, part.values[n], streams.front());
    }
  });
  ++counts_.captures;
}

DeviceLoops& GraphReplay::finished(std::int32_t task) {
  const Position at = positions_[static_cast<std::size_t>(task)];
  const Part& part = current_->parts[static_cast<std::size_t>(at.segment)];
  return part.loops[static_cast<std::size_t>(at.batch)]->finished(task);
}

}  // namespace tessera::detail
