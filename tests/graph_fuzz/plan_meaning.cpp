#include "tests/graph_fuzz/plan_meaning.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tests/graph_fuzz/kernel.hpp"

namespace tessera::fuzz {
namespace {

/// Who waits for whom, by task and level.
class Waiting {
 public:
  using Unit = std::pair<int, LevelId>;

  void add(Unit unit) { waitsFor_[unit]; }
  void add(Unit unit, Unit before) { waitsFor_[unit].insert(before); }

  /// Takes away, time after time, those who wait for nobody that is left.
  bool hasCycle() {
    for (bool progress = true; progress;) {
      progress = false;
      for (auto at = waitsFor_.begin(); at != waitsFor_.end();) {
        const bool ready = std::none_of(at->second.begin(), at->second.end(),
                                        [&](const Unit& other) { return waitsFor_.count(other) > 0; });
        progress = progress || ready;
        at = ready ? waitsFor_.erase(at) : std::next(at);
      }
    }
    return !waitsFor_.empty();
  }

 private:
  std::map<Unit, std::set<Unit>> waitsFor_;
};

}  // namespace

std::vector<LevelId> PlanMeaning::levelsOf(const TaskSpec& task) const {
  if (task.oncePerRank) return {-1};
  std::vector<LevelId> levels;
  for (LevelId level = 0; level <= case_->finest(); ++level) {
    if (task.levels.contains(level, case_->finest())) levels.push_back(level);
  }
  return levels;
}

std::vector<const TaskSpec*> PlanMeaning::chain(int label, LevelId level) const {
  std::vector<const TaskSpec*> tasks;  // a case lists tasks in the order in which they change a label
  for (const TaskSpec& task : *plan_) {
    if (!task.levels.contains(level, case_->finest())) continue;
    for (const WriteSpec& write : task.writes) {
      if (write.label == label) tasks.push_back(&task);
    }
  }
  return tasks;
}

std::int32_t PlanMeaning::versionOf(const TaskSpec& task, const ReadSpec& read, LevelId level) const {
  if (read.generation == Generation::Old) return -1;
  const LevelId source = levelRead(read, std::max(level, 0));
  const auto tasks = chain(read.label, source);
  for (std::size_t v = 0; v < tasks.size(); ++v) {
    if (read.from >= 0 && tasks[v]->id == read.from) return static_cast<std::int32_t>(v);
    if (read.from < 0 && tasks[v] == &task && source == level) return static_cast<std::int32_t>(v) - 1;
  }
  return static_cast<std::int32_t>(tasks.size()) - 1;
}

std::int32_t PlanMeaning::versionBelow(int label, LevelId level, std::int32_t version) const {
  if (version < 0) return -1;
  const TaskSpec* task = chain(label, level)[static_cast<std::size_t>(version)];
  const auto tasks = chain(label, level - 1);
  const auto same = std::find(tasks.begin(), tasks.end(), task);
  return static_cast<std::int32_t>(same == tasks.end() ? std::ssize(tasks) - 1 : same - tasks.begin());
}

bool PlanMeaning::partlyCovered(LevelId level) const {
  if (level == 0) return false;
  std::int64_t cells = 0;
  for (const Box& box : case_->refined[static_cast<std::size_t>(level) - 1].boxes) cells += box.volume();
  return cells < Box{{}, cellsOf(*case_, level - 1)}.volume();
}

bool PlanMeaning::explains(const std::string& headline) const {
  if (headline == "no task computes what a task reads") return readsWhatNobodyComputes();
  if (headline == "tasks wait for one another in a cycle") return hasCycle();
  return false;
}

bool PlanMeaning::readsWhatNobodyComputes() const {
  for (const TaskSpec& task : *plan_) {
    for (const LevelId level : levelsOf(task)) {
      for (const ReadSpec& read : task.reads) {
        if (read.generation == Generation::Old) continue;
        const LevelId source = levelRead(read, std::max(level, 0));
        if (chain(read.label, source).empty()) return true;
        if (versionOf(task, read, level) < 0) return true;  // it writes the label itself
        const bool below = read.reach == Reach::Patch && !read.halo.isZero() && partlyCovered(source);
        if (below && chain(read.label, source - 1).empty()) return true;
      }
    }
  }
  return false;
}

bool PlanMeaning::hasCycle() const {
  Waiting waiting;
  // A task waits for the producer of what it reads, and the next change of the label waits for the task.
  const auto reads = [&](Waiting::Unit reader, int label, LevelId level, std::int32_t version) {
    const auto tasks = chain(label, level);
    if (version < 0 || version >= std::ssize(tasks)) return;
    const auto v = static_cast<std::size_t>(version);
    waiting.add(reader, {tasks[v]->id, level});
    if (v + 1 == tasks.size()) return;
    const Waiting::Unit changer{tasks[v + 1]->id, level};
    if (changer != reader) waiting.add(changer, reader);
  };
  for (const TaskSpec& task : *plan_) {
    for (const LevelId level : levelsOf(task)) {
      const Waiting::Unit unit{task.id, level};
      waiting.add(unit);
      for (const ReadSpec& read : task.reads) {
        const LevelId source = levelRead(read, std::max(level, 0));
        const std::int32_t version = versionOf(task, read, level);
        reads(unit, read.label, source, version);
        if (version < 0 || read.reach != Reach::Patch || read.halo.isZero() || !partlyCovered(source))
          continue;
        reads(unit, read.label, source - 1, versionBelow(read.label, source, version));
      }
      for (const WriteSpec& write : task.writes) {
        const auto tasks = chain(write.label, level);
        const auto mine = std::find(tasks.begin(), tasks.end(), &task);
        if (mine != tasks.begin()) waiting.add(unit, {(*(mine - 1))->id, level});
      }
    }
  }
  return waiting.hasCycle();
}

}  // namespace tessera::fuzz
