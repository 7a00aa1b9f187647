#include "scheduler/graph_replay/plan_buffers.hpp"

#include <optional>
#include <set>
#include <utility>

namespace tessera::detail {

namespace {

/// The first own patch of the level that has the variable; entries of a level swap together.
std::optional<std::size_t> firstWith(const CompiledGraphs& graphs, const DataWarehouse& data, LabelId label,
                                     LevelId level) {
  const Range locals = graphs.localsOfLevel[static_cast<std::size_t>(level)];
  for (std::int64_t local = locals.begin; local < locals.end; ++local) {
    if (data.has(label, static_cast<std::size_t>(local))) return static_cast<std::size_t>(local);
  }
  return std::nullopt;
}

}  // namespace

PlanBuffers::PlanBuffers(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
                         const MessagePump& pump)
    : data_(data),
      pump_(pump),
      hasMessages_(!graphs.plans[plan].sends.empty() || !graphs.plans[plan].receives.empty()) {
  const CompiledGraph& graph = graphs.plans[plan];
  std::set<std::pair<LabelId, LevelId>> touched;
  for (const UnitAccess& access : graph.accesses) touched.emplace(access.label, access.level);
  for (const FillPlan& fill : graph.fills) {
    touched.emplace(fill.label, fill.sourceLevel);
    touched.emplace(fill.label, fill.readerLevel);
    if (fill.sourceLevel > 0) touched.emplace(fill.label, fill.sourceLevel - 1);
  }
  for (const auto& [label, level] : touched) {
    const auto local = firstWith(graphs, data, label, level);
    if (!local) continue;
    for (const Generation generation : {Generation::Old, Generation::New}) {
      entries_.push_back({generation, label, *local});
    }
  }
}

std::vector<std::int32_t> PlanBuffers::now() const {
  std::vector<std::int32_t> numbers;
  numbers.reserve(entries_.size() + 1);
  if (hasMessages_) numbers.push_back(pump_.parity());
  for (const Entry& entry : entries_) {
    numbers.push_back(data_.descriptionOf(entry.generation, entry.label, entry.local));
  }
  return numbers;
}

}  // namespace tessera::detail
