#include "taskgraph/detail/halo_needs.hpp"

#include <set>

namespace tessera::detail {
namespace {

const char* generationName(std::int32_t version) { return version < 0 ? "Old " : "New "; }

void faultTooWide(const ResolvedPlan& plan, const TaskDeclaration& task, const LabelInfo& info, const Level& level,
                  int axis, std::int64_t layers, Faults& faults) {
  const std::int64_t cells = level.domain().extent()[axis];
  faults.push_back(Message("a halo is wider than the level")
                       .line("plan   ", plan.plan->name())
                       .line("task   ", task.name, " at ", placeOf(task))
                       .line("reads  ", info.name, " with ", layers, " layers along ", "xyz"[axis], ", where level ",
                             level.number(), " has ", cells, " cells and a boundary")
                       .line("fix    declare at most halo(", cells, "), or make the axis periodic in [grid]")
                       .text());
}

void faultNoCondition(const ResolvedPlan& plan, const TaskDeclaration& task, const LabelInfo& info, int side,
                      std::int32_t version, Faults& faults) {
  faults.push_back(Message("a task reads beyond a boundary where the label has no condition")
                       .line("plan   ", plan.plan->name())
                       .line("task   ", task.name, " at ", placeOf(task))
                       .line("reads  ", generationName(version), info.name, " beyond ", sideName(side))
                       .line("fix    give it a boundary condition there (LabelTable::setBoundary), or make the axis "
                             "periodic in [grid]")
                       .text());
}

}  // namespace

std::vector<HaloNeed> haloNeeds(const ResolvedPlan& plan) {
  std::map<std::pair<LabelId, std::int32_t>, Halo> widest;
  for (const ResolvedTask& task : plan.tasks) {
    for (const ResolvedRead& read : task.reads) {
      if (read.halo.isZero()) continue;
      Halo& halo = widest[{read.label, read.version}];
      halo = unite(halo, read.halo);
    }
  }
  std::vector<HaloNeed> needs;
  for (const auto& [key, halo] : widest) needs.push_back({key.first, key.second, halo});
  return needs;
}

std::vector<LabelNeed> labelNeeds(std::span<const ResolvedPlan> plans, LabelId labelCount) {
  std::vector<LabelNeed> needs(static_cast<std::size_t>(labelCount));
  for (const ResolvedPlan& plan : plans) {
    for (const ResolvedTask& task : plan.tasks) {
      for (const ResolvedRead& read : task.reads) {
        LabelNeed& need = needs[static_cast<std::size_t>(read.label)];
        need.used = true;
        need.hasOld = need.hasOld || read.version < 0;
        need.halo = unite(need.halo, read.halo);
      }
      for (const ResolvedWrite& write : task.writes) needs[static_cast<std::size_t>(write.label)].used = true;
    }
  }
  return needs;
}

void checkHalos(const ResolvedPlan& plan, const CompileInput& input, Faults& faults) {
  const Geometry& geometry = input.hierarchy->geometry();
  const Level& level = input.hierarchy->level(0);
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    const TaskDeclaration& task = plan.declaration(static_cast<std::int32_t>(t));
    for (const ResolvedRead& read : plan.tasks[t].reads) {
      const LabelInfo& info = input.labels->info(read.label);
      for (int axis = 0; axis < kAxes; ++axis) {
        if (!geometry.active(axis) || geometry.wraps(axis)) continue;
        const std::int64_t layers = std::max(read.halo.lo[axis], read.halo.hi[axis]);
        if (layers > level.domain().extent()[axis]) faultTooWide(plan, task, info, level, axis, layers, faults);
        for (const bool high : {false, true}) {
          const int side = sideOf(axis, high);
          // The upper border of the last cell is inside the domain for nodes and faces.
          const std::int64_t inside = high && onBorders(info.centering, axis) ? 1 : 0;
          const bool beyond = (high ? read.halo.hi : read.halo.lo)[axis] > inside;
          if (beyond && !info.boundary.sides[static_cast<std::size_t>(side)]) {
            faultNoCondition(plan, task, info, side, read.version, faults);
          }
        }
      }
    }
  }
}

void checkOldReads(std::span<const ResolvedPlan> plans, const LabelTable& labels, Faults& faults) {
  std::set<LabelId> written;
  for (const ResolvedPlan& plan : plans) {
    for (const auto& [label, versions] : plan.versions) written.insert(label);
  }
  for (std::size_t p = 0; p < plans.size(); ++p) {
    for (std::size_t t = 0; t < plans[p].tasks.size(); ++t) {
      const TaskDeclaration& task = plans[p].declaration(static_cast<std::int32_t>(t));
      for (const ResolvedRead& read : plans[p].tasks[t].reads) {
        if (read.version >= 0 || (p > 0 && written.count(read.label) > 0)) continue;
        Message message(p == 0 ? "the first plan reads Old, but nothing has run before it"
                               : "a task reads Old of a label that no plan ever writes");
        message.line("plan   ", plans[p].plan->name())
            .line("task   ", task.name, " at ", placeOf(task))
            .line("reads  Old ", labels.info(read.label).name)
            .line("fix    ", p == 0 ? "read New from a task of this plan" : "write it in declareInitial or declareStep");
        faults.push_back(message.text());
      }
    }
  }
}

}  // namespace tessera::detail
