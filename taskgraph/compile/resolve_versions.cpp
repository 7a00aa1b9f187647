#include <algorithm>
#include <set>

#include "taskgraph/compile/resolved_plan.hpp"
#include "taskgraph/compile/version_chain.hpp"
#include "taskgraph/fill_geometry.hpp"

namespace tessera::detail {
namespace {

using Chain = std::vector<std::int32_t>;

std::int32_t versionBy(const Chain& chain, std::int32_t unit) {
  const auto at = std::find(chain.begin(), chain.end(), unit);
  return at == chain.end() ? -1 : static_cast<std::int32_t>(at - chain.begin());
}

const CarriedValue* carriedAt(std::span<const CarriedValue> values, const LevelLabel& where) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& c) { return c.where == where; });
  return found == values.end() ? nullptr : &*found;
}

bool shareName(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

/// Builds one ResolvedRead after the other and notes what is wrong with them.
class ReadResolver {
 public:
  ReadResolver(ResolvedPlan& resolved, const LabelTable& labels, const Hierarchy& hierarchy, Faults& faults)
      : resolved_(resolved),
        labels_(labels),
        hierarchy_(hierarchy),
        levels_(static_cast<int>(hierarchy.levels().size())),
        faults_(faults) {}

  void resolve(std::int32_t number) {
    number_ = number;
    ResolvedUnit& unit = resolved_.units[static_cast<std::size_t>(number)];
    for (const ReadDeclaration& read : task().reads) {
      ResolvedRead r{read.label, sourceLevel(read), -1,    read.reach, read.halo, false,
                     -1,         read.facesOnly,    false, read.label};
      if (!levelExists(read, r.level)) continue;
      // The borders of a patch are its own.
      if (read.reach == Reach::Patch)
        r.halo = beyondBorders(hierarchy_.geometry(), labels_.info(read.label).centering, read.halo);
      if (read.generation == Generation::New) {
        r.version = versionOf(read, r);
        if (r.version < 0) continue;
      }
      if (!addCoarseFill(read, r)) continue;
      const bool isConstant = labels_.info(r.label).prolongation == Prolongation::Constant;
      if (r.coarseFill && (!isConstant || r.coarseLabel != r.label)) addRing(unit, r);
      merge(unit.reads, r);
    }
  }

 private:
  const ResolvedUnit& unit() const { return resolved_.units[static_cast<std::size_t>(number_)]; }
  const TaskDeclaration& task() const { return resolved_.declarationOf(number_); }

  LevelId sourceLevel(const ReadDeclaration& read) const {
    switch (read.reach) {
      case Reach::Patch:
        return unit().level;
      case Reach::Coarser:
        return unit().level - 1;
      case Reach::Finer:
        return unit().level + 1;
      case Reach::WholeLevel:
        return read.level < 0 ? std::max(unit().level, 0) : read.level;
    }
    return 0;
  }

  bool levelExists(const ReadDeclaration& read, LevelId level) {
    const bool patchOfRank = unit().level < 0 && read.reach != Reach::WholeLevel;
    if (level >= 0 && level < levels_ && !patchOfRank) return true;
    Message message = head("a task reads a label on a level that is not there");
    if (patchOfRank) {
      message.line("reads  ", name(read), " on a patch, but the task runs once a rank")
          .line("fix    read it with wholeLevel(level), or leave out .oncePerRank()");
    } else {
      message.line("reads  ", name(read), " on level ", level, " of ", levels_)
          .line("fix    limit the task with .on(allButCoarsest()) or .on(allButFinest())");
    }
    faults_.push_back(message.text());
    return false;
  }

  /// The version of New that a read means; -1 with a fault noted when there is none.
  std::int32_t versionOf(const ReadDeclaration& read, const ResolvedRead& r) {
    const auto found = resolved_.versions.find({r.label, r.level});
    if (found == resolved_.versions.end()) return faultNoProducer(read, r);
    const Chain& chain = found->second;
    if (chain.empty()) return -1;  // its own fault is noted already
    if (!read.from.empty()) return versionFrom(read, found->first, chain);
    // A task that changes the label in place reads what it is about to change.
    const std::int32_t own = r.level == unit().level ? versionBy(chain, number_) : -1;
    if (own == 0) return faultNoProducer(read, r);
    return own > 0 ? own - 1 : static_cast<std::int32_t>(chain.size()) - 1;
  }

  /// Settles where the halo cells beyond the level's patches come from; false with a fault noted when
  /// nowhere.
  bool addCoarseFill(const ReadDeclaration& read, ResolvedRead& r) {
    const Level& level = hierarchy_.level(r.level);
    const bool covers = level.cellCount() == level.domain().volume();
    if (r.reach != Reach::Patch || r.halo.isZero() || r.level == 0 || covers) return true;
    r.coarseFill = true;
    if (takesStandIn(read, r) || r.version < 0) return true;
    const auto coarse = resolved_.versions.find({r.label, r.level - 1});
    if (coarse == resolved_.versions.end() || coarse->second.empty()) {
      ResolvedRead below = r;
      below.level = r.level - 1;
      if (coarse == resolved_.versions.end()) faultNoProducer(read, below);
      return false;
    }
    // The value that the same task left on the coarser level, else the final one.
    const std::vector<std::string> names =
        namesOf({r.label, r.level}, resolved_.producerOf(r.label, r.level, r.version));
    r.coarseVersion = static_cast<std::int32_t>(coarse->second.size()) - 1;
    for (std::size_t v = 0; v < coarse->second.size(); ++v) {
      if (shareName(names, namesOf(coarse->first, coarse->second[v])))
        r.coarseVersion = static_cast<std::int32_t>(v);
    }
    return true;
  }

  bool takesStandIn(const ReadDeclaration& read, ResolvedRead& r) const {
    for (const StandIn& one : resolved_.standIns) {
      if (one.label != r.label || one.generation != read.generation) continue;
      const LevelLabel below{one.by, r.level - 1};
      if (!resolved_.writes(below)) continue;
      r.coarseLabel = one.by;
      r.coarseVersion = resolved_.lastVersion(one.by, below.level);
      return true;
    }
    return false;
  }

  /// What the halo is interpolated from is gathered as a read of the coarser level is.
  void addRing(ResolvedUnit& unit, ResolvedRead& r) const {
    r.ring = true;
    const Halo halo = ringHalo(r.halo, hierarchy_.level(r.level).ratioToCoarser());
    merge(unit.reads, {r.coarseLabel, r.level - 1, r.coarseVersion, Reach::Coarser, halo, false, -1, false,
                       false, r.coarseLabel});
  }

  /// Who may have left a value: one task of this plan or, of a carried value, of an earlier item.
  std::vector<std::string> namesOf(const LevelLabel& where, std::int32_t producer) const {
    if (producer >= 0) return {resolved_.declarationOf(producer).name};
    return carriedAt(resolved_.carried, where)->from;
  }

  std::int32_t versionFrom(const ReadDeclaration& read, const LevelLabel& where, const Chain& chain) {
    std::string names;
    for (std::size_t v = 0; v < chain.size(); ++v) {
      for (const std::string& producer : namesOf(where, chain[v])) {
        if (producer == read.from) return static_cast<std::int32_t>(v);
        names += (names.empty() ? "" : ", ") + producer;
      }
    }
    faults_.push_back(head("a read names a task that does not compute the label")
                          .line("reads  ", name(read), ", from(\"", read.from, "\")")
                          .line("fix    name one of: ", names)
                          .text());
    return -1;
  }

  std::int32_t faultNoProducer(const ReadDeclaration& read, const ResolvedRead& r) {
    const std::string& label = labels_.info(read.label).name;
    const std::string where = levels_ > 1 ? " on level " + std::to_string(r.level) : "";
    faults_.push_back(
        head("no task computes what a task reads")
            .line("reads  New ", label, where)
            .line("fix    read Old ", label, ", or add a task with .writes(", label, ") to this plan", where)
            .text());
    return -1;
  }

  Message head(const char* what) const {
    Message message(what);
    message.line("plan   ", resolved_.plan->name())
        .line("task   ", unitName(resolved_, number_), " at ", placeOf(task()));
    return message;
  }
  std::string name(const ReadDeclaration& read) const {
    return (read.generation == Generation::Old ? "Old " : "New ") + labels_.info(read.label).name;
  }

  static void merge(std::vector<ResolvedRead>& reads, const ResolvedRead& r) {
    for (ResolvedRead& known : reads) {
      if (known.label != r.label || known.level != r.level || known.version != r.version ||
          known.reach != r.reach) {
        continue;
      }
      if (!r.halo.isZero()) known.facesOnly = r.facesOnly && (known.facesOnly || known.halo.isZero());
      known.halo = unite(known.halo, r.halo);
      if (r.coarseFill) {
        known.coarseFill = true;
        known.coarseVersion = r.coarseVersion;
        known.coarseLabel = r.coarseLabel;
        known.ring = r.ring;
      }
      return;
    }
    reads.push_back(r);
  }

  ResolvedPlan& resolved_;
  const LabelTable& labels_;
  const Hierarchy& hierarchy_;
  int levels_;
  Faults& faults_;
  std::int32_t number_ = 0;
};

void checkNamesAndBodies(const StepPlan& plan, Faults& faults) {
  std::set<std::string> names;
  for (const TaskDeclaration& task : plan.tasks()) {
    const auto head = [&](const char* what) {
      Message message(what);
      message.line("plan   ", plan.name()).line("task   ", task.name, " at ", placeOf(task));
      return message;
    };
    if (!names.insert(task.name).second) {
      faults.push_back(head("two tasks of one plan have the same name")
                           .line("fix    give each task its own name, \"Component::verb\"")
                           .text());
    }
    if (!task.body.runsOnHost()) {
      const bool device = task.body.device != nullptr;
      faults.push_back(head(device ? "a task can run on a device only, and there is none"
                                   : "a task has no body that can run here")
                           .line("fix    ", device ? "write .runs<Cpu, Gpu>(...)"
                                                   : "add .runs<Cpu>(...) or .runs<Cpu, Gpu>(...)")
                           .text());
    }
    for (const LabelId table : task.readsTables) {
      if (table >= 0) continue;
      faults.push_back(head("a task reads a constant table that nobody has made")
                           .line("fix    make it when the component is configured: setup.labels.table(name, "
                                 "values)")
                           .text());
    }
    if (task.body.begins && !task.contributions.empty()) {
      faults.push_back(head("a task that feeds an engine contributes to a reduction")
                           .line("fix    contribute in a task that reads what this one writes")
                           .text());
    }
    if (task.oncePerRank && !task.writes.empty()) {
      faults.push_back(
          head("a task that runs once a rank writes a label")
              .line("fix    say .oncePerLevel(), let it contribute to reductions only, or leave out "
                    ".oncePerRank()")
              .text());
    }
  }
}

/// What a task that works on all patches of a level at once cannot have.
void checkTasksOfLevels(const StepPlan& plan, Faults& faults) {
  for (const TaskDeclaration& task : plan.tasks()) {
    if (!task.oncePerLevel) continue;
    const auto fault = [&](const char* says, const char* fix) {
      faults.push_back(Message("a task that runs once a level says what it cannot have")
                           .line("plan   ", plan.name())
                           .line("task   ", task.name, " at ", placeOf(task))
                           .line("says   ", says)
                           .line("fix    ", fix)
                           .text());
    };
    if (task.oncePerRank) fault(".oncePerRank()", "keep one of .oncePerRank() and .oncePerLevel()");
    if (task.body.device)
      fault("a body for devices", "write .runs<Cpu>(...): it works on all patches of the level on the host");
    if (task.body.begins)
      fault("a body that feeds an engine", "leave out .oncePerLevel(): its small tasks are those of a patch");
    if (!task.scratch.empty())
      fault(".scratch(...)",
            "leave it out, or do that part in a task on each patch, without .oncePerLevel()");
    if (!task.finalLoops.empty()) fault(".inLoop(...)", "leave it out: its values are looked at in the end");
  }
}

void makeUnits(ResolvedPlan& resolved, int levels) {
  for (const TaskId number : resolved.plan->taskIds()) {
    const TaskDeclaration& task = resolved.plan->task(number);
    if (task.oncePerRank) resolved.units.push_back({number, -1, {}, {}});
    for (LevelId level = 0; level < levels && !task.oncePerRank; ++level) {
      if (task.levels.contains(level, levels - 1)) resolved.units.push_back({number, level, {}, {}});
    }
  }
}

void makeChains(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults) {
  std::set<LevelLabel> written;
  for (std::size_t u = 0; u < resolved.units.size(); ++u) {
    for (const WriteDeclaration& write : resolved.declarationOf(static_cast<std::int32_t>(u)).writes) {
      written.insert({write.label, resolved.units[u].level});
    }
  }
  for (const CarriedValue& value : resolved.carried) resolved.versions[value.where] = {-1};
  for (const LevelLabel& where : written) {
    const CarriedValue* carried = carriedAt(resolved.carried, where);
    VersionChain chain(resolved, labels.info(where.label).name, where, carried, faults);
    resolved.versions[where] = chain.resolve();
  }
}

/// Of what earlier items leave, the plan has to do with what it reads or changes only.
void dropUnused(ResolvedPlan& resolved) {
  std::set<LevelLabel> used;
  for (const ResolvedUnit& unit : resolved.units) {
    for (const ResolvedRead& read : unit.reads) {
      if (read.version >= 0) used.insert({read.label, read.level});
      if (read.coarseFill && read.coarseVersion >= 0) used.insert({read.coarseLabel, read.level - 1});
    }
  }
  std::erase_if(resolved.versions, [&](const auto& entry) {
    const bool onlyCarried = entry.second.size() == 1 && entry.second.front() < 0;
    return onlyCarried && used.count(entry.first) == 0;
  });
  std::erase_if(resolved.carried, [&](const CarriedValue& c) { return !resolved.carries(c.where); });
}

}  // namespace

std::string unitName(const ResolvedPlan& resolved, std::int32_t unit) {
  const bool several = std::any_of(resolved.units.begin(), resolved.units.end(),
                                   [](const ResolvedUnit& u) { return u.level > 0; });
  const LevelId level = resolved.units[static_cast<std::size_t>(unit)].level;
  const std::string& name = resolved.declarationOf(unit).name;
  return several && level >= 0 ? name + " on level " + std::to_string(level) : name;
}

ResolvedPlan resolvePlan(const StepPlan& plan, const PlanItem& item, const LabelTable& labels,
                         const Hierarchy& hierarchy, Faults& faults) {
  ResolvedPlan resolved;
  resolved.plan = &plan;
  resolved.carried = item.carried;
  resolved.endsStep = item.endsStep;
  resolved.standIns = item.standIns;
  checkNamesAndBodies(plan, faults);
  checkTasksOfLevels(plan, faults);
  makeUnits(resolved, static_cast<int>(hierarchy.levels().size()));
  makeChains(resolved, labels, faults);
  ReadResolver reads(resolved, labels, hierarchy, faults);
  for (std::size_t u = 0; u < resolved.units.size(); ++u) {
    const auto number = static_cast<std::int32_t>(u);
    reads.resolve(number);
    for (const WriteDeclaration& write : resolved.declarationOf(number).writes) {
      const std::int32_t version =
          versionBy(resolved.versions[{write.label, resolved.units[u].level}], number);
      if (version >= 0) resolved.units[u].writes.push_back({write.label, version});
    }
  }
  dropUnused(resolved);
  orderUnits(resolved, labels, faults);
  return resolved;
}

}  // namespace tessera::detail
