#include "scheduler/detail/graph_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/contracts.hpp"
#include "datawarehouse/boundary_fill.hpp"
#include "datawarehouse/checked_run.hpp"
#include "datawarehouse/region_copy.hpp"
#include "taskgraph/task_place.hpp"

namespace tessera::detail {

GraphRun::GraphRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, Transport& transport,
                   const RunnerOptions& options)
    : graph_(graphs.plans[plan]),
      data_(data),
      options_(options),
      pump_(graphs.plans[plan], transport),
      reductions_(graph_.reductions.size()) {
  for (const TaskDeclaration& task : graph_.plan->tasks()) {
    TESSERA_EXPECT(task.reads.size() + task.writes.size() <= kMaxAccesses, "split a task with more than 48 accesses");
    places_.push_back(placeOf(task));
  }
  layOutContributions();
}

void GraphRun::layOutContributions() {
  for (const TaskInstance& instance : graph_.instances) {
    const TaskDeclaration& task = graph_.plan->tasks()[static_cast<std::size_t>(instance.task)];
    Range range{static_cast<std::int64_t>(contributions_.size()), 0};
    for (const ContributionDeclaration& c : task.contributions) contributions_.push_back({c.reduction, 0.0, {}, false});
    range.end = static_cast<std::int64_t>(contributions_.size());
    contributionsOf_.push_back(range);
  }
}

void GraphRun::begin(const StepInputs& inputs, std::span<double> control) {
  inputs_ = inputs;
  for (PatchContribution& c : contributions_) c = {c.reduction, 0.0, {}, false};
  pump_.begin(control);
}

void GraphRun::end(StepResult& result) {
  pump_.end();
  for (std::size_t r = 0; r < graph_.reductions.size(); ++r) {
    const ReductionPlan& plan = graph_.reductions[r];
    result.reductions[static_cast<std::size_t>(plan.reduction)] =
        plan.kind == ReductionKind::Sum ? reductions_[r].sum.value() : reductions_[r].value;
  }
  data_.promote(graph_.written);
}

bool GraphRun::run(std::int32_t node) {
  const GraphNode& n = graph_.nodes[static_cast<std::size_t>(node)];
  const auto item = static_cast<std::size_t>(n.item);
  switch (n.kind) {
    case NodeKind::Task: runTask(graph_.instances[item], item); return true;
    case NodeKind::Halo: runHalo(graph_.halos[item]); return true;
    case NodeKind::Send:
      packMessage(n.item);
      pump_.submitSend(n.item, node);
      return false;
    case NodeKind::Receive: pump_.submitReceive(n.item, node); return false;
    case NodeKind::Reduce: {
      joinContributions(n.item);
      ReductionState& state = reductions_[item];
      pump_.submitReduction(n.item, node, {&state.value, 1}, state.sum.words());
      return false;
    }
  }
  return true;
}

std::size_t GraphRun::resolveAccesses(const TaskInstance& instance, std::array<TaskAccess, kMaxAccesses>& accesses) {
  const auto local = static_cast<std::size_t>(instance.local);
  std::size_t n = 0;
  for (std::int64_t a = instance.accesses.begin; a < instance.accesses.end; ++a, ++n) {
    const InstanceAccess& access = graph_.accesses[static_cast<std::size_t>(a)];
    const auto mode = static_cast<AccessMode>(access.mode);
    const Generation generation = mode == AccessMode::ReadOld ? Generation::Old : Generation::New;
    accesses[n] = {mode, access.label, data_.data(generation, access.label, local), data_.layout(access.label, local),
                   access.declared, nullptr};
  }
  return n;
}

void GraphRun::runTask(const TaskInstance& instance, std::size_t number) {
  const TaskDeclaration& task = graph_.plan->tasks()[static_cast<std::size_t>(instance.task)];
  const Patch& patch = data_.hierarchy().patch(data_.ownPatches()[static_cast<std::size_t>(instance.local)]);
  std::array<TaskAccess, kMaxAccesses> accesses;
  const std::size_t count = resolveAccesses(instance, accesses);
  const Range own = contributionsOf_[number];
  TaskFrame frame;
  frame.task = task.name;
  frame.declaredAt = places_[static_cast<std::size_t>(instance.task)];
  frame.patch = &patch;
  frame.level = &data_.hierarchy().level(patch.level);
  frame.labels = &data_.labels();
  frame.accesses = std::span(accesses).first(count);
  frame.contributions = std::span(contributions_)
                            .subspan(static_cast<std::size_t>(own.begin), static_cast<std::size_t>(own.size()));
  frame.time = inputs_.time;
  frame.dt = inputs_.dt;
  frame.step = inputs_.step;
  const auto start = std::chrono::steady_clock::now();
  if (options_.checked) {
    runChecked(frame, std::span(accesses).first(count), task.body.checked);
  } else {
    task.body.cpu(frame);
  }
  if (options_.findNonFinite) expectFinite(frame);
  const auto spent = std::chrono::steady_clock::now() - start;
  taskNanoseconds_.fetch_add(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count(),
                             std::memory_order_relaxed);
}

void GraphRun::runHalo(const HaloFill& fill) {
  const LabelInfo& info = data_.labels().info(fill.label);
  const std::int64_t bytes = info.type.bytes();
  const auto local = static_cast<std::size_t>(fill.local);
  std::byte* to = data_.data(fill.generation, fill.label, local);
  const Layout& layout = data_.layout(fill.label, local);
  for (std::int64_t c = fill.copies.begin; c < fill.copies.end; ++c) {
    const HaloCopy& copy = graph_.copies[static_cast<std::size_t>(c)];
    const auto source = static_cast<std::size_t>(copy.source);
    copyRegion(to, layout, data_.data(fill.generation, fill.label, source), data_.layout(fill.label, source),
               copy.region, copy.shift, bytes);
  }
  for (std::int64_t u = fill.unpacks.begin; u < fill.unpacks.end; ++u) {
    const HaloUnpack& piece = graph_.unpacks[static_cast<std::size_t>(u)];
    const auto size = static_cast<std::size_t>(piece.region.volume() * bytes);
    unpackRegion(to, layout, piece.region,
                 pump_.receiveBuffer(piece.message).subspan(static_cast<std::size_t>(piece.offset), size), bytes);
  }
  // A condition of time holds at the time of the value: Old at the start of the step, New at its end.
  const double time = fill.generation == Generation::Old ? inputs_.time : inputs_.time + inputs_.dt;
  const Patch& patch = data_.hierarchy().patch(data_.ownPatches()[local]);
  for (std::int64_t b = fill.boundaries.begin; b < fill.boundaries.end; ++b) {
    const HaloBoundary& part = graph_.boundaries[static_cast<std::size_t>(b)];
    fillBoundary(to, layout, info, data_.hierarchy().level(patch.level), part.side, part.region, time);
  }
}

void GraphRun::packMessage(std::int32_t send) {
  const MessagePlan& message = graph_.sends[static_cast<std::size_t>(send)];
  const std::span<std::byte> buffer = pump_.sendBuffer(send);
  for (std::int64_t p = message.items.begin; p < message.items.end; ++p) {
    const PackItem& item = graph_.packItems[static_cast<std::size_t>(p)];
    const std::int64_t bytes = data_.labels().info(item.label).type.bytes();
    const auto source = static_cast<std::size_t>(item.source);
    const auto size = static_cast<std::size_t>(item.region.volume() * bytes);
    packRegion(buffer.subspan(static_cast<std::size_t>(item.offset), size),
               data_.data(item.generation, item.label, source), data_.layout(item.label, source), item.region, bytes);
  }
}

void GraphRun::joinContributions(std::int32_t reduction) {
  const ReductionPlan& plan = graph_.reductions[static_cast<std::size_t>(reduction)];
  ReductionState& state = reductions_[static_cast<std::size_t>(reduction)];
  const double infinity = std::numeric_limits<double>::infinity();
  state = {plan.kind == ReductionKind::Min ? infinity : -infinity, {}};
  for (std::int64_t c = plan.contributions.begin; c < plan.contributions.end; ++c) {
    const std::int32_t instance = graph_.contributions[static_cast<std::size_t>(c)].instance;
    const Range own = contributionsOf_[static_cast<std::size_t>(instance)];
    for (std::int64_t n = own.begin; n < own.end; ++n) {
      const PatchContribution& given = contributions_[static_cast<std::size_t>(n)];
      if (given.reduction != plan.reduction || !given.given) continue;
      switch (plan.kind) {
        case ReductionKind::Min: state.value = std::min(state.value, given.value); break;
        case ReductionKind::Max: state.value = std::max(state.value, given.value); break;
        case ReductionKind::Sum: state.sum.add(given.sum); break;
      }
    }
  }
}

}  // namespace tessera::detail
