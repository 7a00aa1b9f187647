#include "tests/graph_fuzz/draw_plan.hpp"

#include <algorithm>

namespace tessera::fuzz {
namespace {

/// Adds tasks to one plan, each of which mostly fits what the earlier ones left.
class PlanDraw {
 public:
  PlanDraw(const FuzzCase& c, Random& random, bool first) : case_(c), random_(random), first_(first) {}

  void writeCarried() {
    for (std::size_t n = 0; n < case_.labels.size(); ++n) {
      if (!case_.labels[n].carried) continue;
      TaskSpec task = start();
      task.writes.push_back({static_cast<int>(n), false, -1});
      plan_.push_back(task);
    }
  }

  void addTask() {
    TaskSpec task = start();
    task.oncePerRank = random_.chance(8);
    if (!task.oncePerRank) task.levels = levels();
    const std::int64_t reads = random_.between(task.oncePerRank ? 1 : 0, 3);
    for (std::int64_t n = 0; n < reads; ++n) addRead(task);
    const std::int64_t writes = task.oncePerRank ? 0 : random_.between(0, 2);
    for (std::int64_t n = 0; n < writes; ++n) addWrite(task);
    for (std::size_t r = 0; r < case_.reductions.size(); ++r) {
      if (random_.chance(30)) task.contributions.push_back(static_cast<int>(r));
    }
    // A task on all patches of a level contributes once, and not for each cell.
    task.oncePerLevel = !task.oncePerRank && task.contributions.empty() && random_.chance(20);
    plan_.push_back(task);
  }

  /// The first tasks of another plan.
  void begin(const PlanSpec& other, std::int64_t tasks) {
    plan_.assign(other.begin(), other.begin() + tasks);
    given_ = plan_.size();
  }

  PlanSpec take() {
    for (std::size_t n = given_; n < plan_.size(); ++n)
      plan_[n].place = static_cast<int>(random_.below(1000));
    return std::move(plan_);
  }

 private:
  TaskSpec start() const {
    TaskSpec task;
    task.id = static_cast<int>(plan_.size());
    return task;
  }

  LevelSelection levels() {
    if (random_.chance(65)) return {};
    switch (random_.below(4)) {
      case 0:
        return onlyLevel(static_cast<LevelId>(random_.below(case_.finest() + 1)));
      case 1:
        return finestLevel();
      case 2:
        return case_.finest() > 0 ? allButFinest() : LevelSelection{};
      default:
        return case_.finest() > 0 ? allButCoarsest() : LevelSelection{};
    }
  }

  bool runsOn(const TaskSpec& task, LevelId level) const {
    return task.levels.contains(level, case_.finest());
  }
  /// Whether some earlier task writes the label on the level.
  std::vector<const TaskSpec*> changersOf(int label, LevelId level) const {
    std::vector<const TaskSpec*> found;
    for (const TaskSpec& task : plan_) {
      for (const WriteSpec& write : task.writes) {
        if (write.label == label && runsOn(task, level)) found.push_back(&task);
      }
    }
    return found;
  }

  void drawReach(const TaskSpec& task, ReadSpec& read) {
    const std::int64_t kind = task.oncePerRank ? 9 : random_.below(10);
    if (kind < 6) {
      if (random_.chance(70)) read.halo = drawHalo();
    } else if (kind == 6 && !runsOn(task, 0)) {
      read.reach = Reach::Coarser;
      read.halo = uniformHalo(random_.below(3));
    } else if (kind == 7 && !runsOn(task, case_.finest())) {
      read.reach = Reach::Finer;
    } else if (kind >= 8) {
      read.reach = Reach::WholeLevel;
      read.level = random_.chance(60) || task.oncePerRank
                       ? static_cast<LevelId>(random_.below(case_.finest() + 1))
                       : -1;
    }
  }

  Halo drawHalo() {
    if (random_.chance(60)) return uniformHalo(random_.between(1, 2));
    Halo halo;
    for (int d = 0; d < kAxes; ++d) {
      halo.lo[d] = random_.below(random_.chance(10) ? 6 : 3);
      halo.hi[d] = random_.below(random_.chance(10) ? 6 : 3);
    }
    return halo;
  }

  /// The levels whose values the read needs.
  std::vector<LevelId> levelsNeeded(const TaskSpec& task, const ReadSpec& read) const {
    std::vector<LevelId> needed;
    for (LevelId level = 0; level <= case_.finest(); ++level) {
      if (task.oncePerRank ? level > 0 : !runsOn(task, level)) continue;
      switch (read.reach) {
        case Reach::Patch:
          needed.push_back(level);
          if (level > 0 && !read.halo.isZero()) needed.push_back(level - 1);
          break;
        case Reach::Coarser:
          needed.push_back(level - 1);
          break;
        case Reach::Finer:
          needed.push_back(level + 1);
          break;
        case Reach::WholeLevel:
          needed.push_back(read.level >= 0 ? read.level : level);
          break;
      }
    }
    return needed;
  }

  void addRead(TaskSpec& task) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      ReadSpec read;
      read.label = static_cast<int>(random_.below(static_cast<std::int64_t>(case_.labels.size())));
      drawReach(task, read);
      const bool carried = case_.labels[static_cast<std::size_t>(read.label)].carried;
      read.generation = !first_ && carried && random_.chance(50) ? Generation::Old : Generation::New;
      if (read.generation == Generation::New && !settleNew(task, read)) continue;
      task.reads.push_back(read);
      return;
    }
  }

  /// Picks the version; false where it lacks a producer, mostly.
  bool settleNew(const TaskSpec& task, ReadSpec& read) {
    std::vector<const TaskSpec*> common;
    for (const LevelId level : levelsNeeded(task, read)) {
      const auto changers = changersOf(read.label, level);
      if (changers.empty()) return random_.chance(3);
      if (common.empty()) common = changers;
      std::erase_if(common, [&](const TaskSpec* t) {
        return std::find(changers.begin(), changers.end(), t) == changers.end();
      });
    }
    if (!common.empty() && random_.chance(85)) {
      // Most name the last one, so that a later change does not move what they read.
      const auto n = random_.chance(70) ? static_cast<std::int64_t>(common.size()) - 1
                                        : random_.below(static_cast<std::int64_t>(common.size()));
      read.from = common[static_cast<std::size_t>(n)]->id;
    }
    return true;
  }

  void addWrite(TaskSpec& task) {
    const auto label = static_cast<int>(random_.below(static_cast<std::int64_t>(case_.labels.size())));
    for (const WriteSpec& write : task.writes) {
      if (write.label == label) return;
    }
    const TaskSpec* last = nullptr;
    for (const TaskSpec& other : plan_) {
      for (const WriteSpec& write : other.writes) {
        if (write.label == label) last = &other;
      }
    }
    if (last == nullptr) {
      task.writes.push_back({label, false, -1});
      return;
    }
    for (LevelId level = 0; level <= case_.finest(); ++level) {
      if (runsOn(task, level) && !runsOn(*last, level) && random_.chance(95)) return;
    }
    task.writes.push_back({label, true, last->id});
  }

  const FuzzCase& case_;
  Random& random_;
  bool first_;
  PlanSpec plan_;
  std::size_t given_ = 0;  ///< tasks of another plan
};

}  // namespace

PlanSpec drawFirstPlan(const FuzzCase& c, Random& random) {
  PlanDraw draw(c, random, true);
  draw.writeCarried();
  const std::int64_t more = random.chance(60) ? 0 : random.between(1, 3);
  for (std::int64_t n = 0; n < more; ++n) draw.addTask();
  return draw.take();
}

PlanSpec drawPlan(const FuzzCase& c, Random& random) {
  PlanDraw draw(c, random, false);
  const std::int64_t tasks = random.between(2, 8);
  for (std::int64_t n = 0; n < tasks; ++n) draw.addTask();
  return draw.take();
}

PlanSpec drawVariant(const FuzzCase& c, const PlanSpec& other, Random& random) {
  PlanDraw draw(c, random, false);
  draw.begin(other, random.between(1, static_cast<std::int64_t>(other.size())));
  const std::int64_t tasks = random.between(0, 4);
  for (std::int64_t n = 0; n < tasks; ++n) draw.addTask();
  return draw.take();
}

}  // namespace tessera::fuzz
