#include "taskgraph/compile/declared_versions.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

const std::vector<TaskId> kNobody;

bool isAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The task of `left` that changes what one of `names` left: it says so, or says nothing and is the only
/// candidate.
std::size_t nextIn(const std::vector<std::string>& names,
                   const std::vector<std::pair<TaskId, std::string>>& left) {
  for (std::size_t n = 0; n < left.size(); ++n) {
    if (isAmong(names, left[n].second)) return n;
  }
  for (std::size_t n = 0; n < left.size(); ++n) {
    if (left[n].second.empty()) return n;
  }
  return left.size();
}

}  // namespace

DeclaredVersions::DeclaredVersions(const StepPlan& plan, std::span<const CarriedValue> carried,
                                   std::span<const StandIn> standIns, const Hierarchy& hierarchy)
    : plan_(plan),
      carried_(carried),
      standIns_(standIns),
      finest_(static_cast<LevelId>(hierarchy.levels().size()) - 1) {
  for (const CarriedValue& value : carried_) chains_[{value.where.label, value.where.level}] = {TaskId()};
  for (const TaskDeclaration& task : plan.tasks()) {
    for (const WriteDeclaration& write : task.writes) {
      for (LevelId level = 0; level <= finest_; ++level) makeChain(write.label, level);
    }
  }
}

void DeclaredVersions::makeChain(LabelId label, LevelId level) {
  std::vector<TaskId>& made = chains_[{label, level}];
  made.clear();
  std::vector<std::pair<TaskId, std::string>> left;
  for (const TaskId id : plan_.taskIds()) {
    const TaskDeclaration& task = plan_.task(id);
    if (!task.levels.contains(level, finest_)) continue;
    for (const WriteDeclaration& write : task.writes) {
      if (write.label != label) continue;
      if (write.modifies) {
        left.emplace_back(id, write.from);
      } else {
        made.push_back(id);
      }
    }
  }
  if (made.empty() && carried(label, level) != nullptr) made.emplace_back();
  while (!made.empty() && !left.empty()) {
    const std::size_t next = nextIn(leftBy(label, level, made.size() - 1), left);
    if (next == left.size()) return;
    made.push_back(left[next].first);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

const CarriedValue* DeclaredVersions::carried(LabelId label, LevelId level) const {
  for (const CarriedValue& value : carried_) {
    if (value.where == LevelLabel{label, level}) return &value;
  }
  return nullptr;
}

std::vector<std::string> DeclaredVersions::leftBy(LabelId label, LevelId level, std::size_t version) const {
  const TaskId task = chain(label, level)[version];
  if (task.isNone()) return carried(label, level)->from;
  return {plan_.task(task).name};
}

const std::vector<TaskId>& DeclaredVersions::chain(LabelId label, LevelId level) const {
  const auto found = chains_.find({label, level});
  return found == chains_.end() ? kNobody : found->second;
}

LevelId DeclaredVersions::levelRead(const ReadDeclaration& read, LevelId level) {
  switch (read.reach) {
    case Reach::Patch:
      break;
    case Reach::Coarser:
      return level - 1;
    case Reach::Finer:
      return level + 1;
    case Reach::WholeLevel:
      return read.level >= 0 ? read.level : std::max(level, 0);
  }
  return level;
}

std::int32_t DeclaredVersions::ofRead(TaskId task, LevelId level, const ReadDeclaration& read) const {
  if (read.generation == Generation::Old) return -1;
  const LevelId source = levelRead(read, level);
  const auto& tasks = chain(read.label, source);
  if (!read.from.empty()) {
    for (std::size_t v = 0; v < tasks.size(); ++v) {
      if (isAmong(leftBy(read.label, source, v), read.from)) return static_cast<std::int32_t>(v);
    }
  }
  const std::int32_t own = source == level ? ofWrite(task, level, read.label) : -1;
  return own > 0 ? own - 1 : static_cast<std::int32_t>(tasks.size()) - 1;
}

std::int32_t DeclaredVersions::ofWrite(TaskId task, LevelId level, LabelId label) const {
  const auto& tasks = chain(label, level);
  const auto at = std::find(tasks.begin(), tasks.end(), task);
  return at == tasks.end() ? -1 : static_cast<std::int32_t>(at - tasks.begin());
}

DeclaredVersions::Below DeclaredVersions::ofCoarser(LabelId label, LevelId level,
                                                    std::int32_t version) const {
  for (const StandIn& one : standIns_) {
    const bool isThis = one.label == label && (one.generation == Generation::Old) == (version < 0);
    const auto count = isThis ? std::ssize(chain(one.by, level - 1)) : 0;
    if (count > 0) return {one.by, static_cast<std::int32_t>(count) - 1};
  }
  if (version < 0) return {label, -1};
  const std::vector<std::string> names = leftBy(label, level, static_cast<std::size_t>(version));
  const auto& coarse = chain(label, level - 1);
  auto below = static_cast<std::int32_t>(coarse.size()) - 1;
  for (std::size_t v = 0; v < coarse.size(); ++v) {
    for (const std::string& name : leftBy(label, level - 1, v)) {
      if (isAmong(names, name)) below = static_cast<std::int32_t>(v);
    }
  }
  return {label, below};
}

}  // namespace tessera::detail
