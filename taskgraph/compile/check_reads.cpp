#include <algorithm>

#include "taskgraph/compile/fill_needs.hpp"

namespace tessera::detail {
namespace {

/// What the messages about one read begin with.
Message headOf(const char* what, const ResolvedPlan& plan, std::int32_t unit) {
  Message message(what);
  message.line("plan   ", plan.plan->name())
      .line("task   ", unitName(plan, unit), " at ", placeOf(plan.declarationOf(unit)));
  return message;
}

void checkReadHalo(const ResolvedPlan& plan, std::int32_t unit, const ResolvedRead& read,
                   const CompileInput& input, Faults& faults) {
  const Level& level = input.hierarchy->level(read.level);
  const Geometry& geometry = level.geometry();
  const LabelInfo& info = input.labels->info(read.label);
  for (int axis = 0; axis < kAxes; ++axis) {
    if (!geometry.active(axis) || geometry.wraps(axis)) continue;
    const std::int64_t layers = std::max(read.halo.lo[axis], read.halo.hi[axis]);
    const std::int64_t cells = level.domain().extent()[axis];
    if (layers > cells) {
      faults.push_back(
          headOf("a halo is wider than the level", plan, unit)
              .line("reads  ", info.name, " with ", layers, " layers along ", "xyz"[axis], ", where level ",
                    read.level, " has ", cells, " cells and a boundary")
              .line("fix    declare at most halo(", cells, "), or make the axis periodic in [grid]")
              .text());
    }
    for (const bool high : {false, true}) {
      // The upper border of the last cell is inside the domain for nodes and faces.
      const std::int64_t inside = high && onBorders(info.centering, axis) ? 1 : 0;
      const bool beyond = (high ? read.halo.hi : read.halo.lo)[axis] > inside;
      const int side = sideOf(axis, high);
      if (!beyond || info.boundary.sides[static_cast<std::size_t>(side)]) continue;
      faults.push_back(
          headOf("a task reads beyond a boundary where the label has no condition", plan, unit)
              .line("reads  ", read.version < 0 ? "Old " : "New ", info.name, " beyond ", sideName(side))
              .line("fix    give it a boundary condition there (LabelTable::setBoundary), or make the axis "
                    "periodic in [grid]")
              .text());
    }
  }
}

}  // namespace

void checkHalos(const ResolvedPlan& plan, const CompileInput& input, Faults& faults) {
  for (std::size_t u = 0; u < plan.units.size(); ++u) {
    for (const ResolvedRead& read : plan.units[u].reads) {
      checkReadHalo(plan, static_cast<std::int32_t>(u), read, input, faults);
    }
  }
}

namespace {

/// Which plan leaves the label on the level: "plan step, task T::u"; empty where none does.
std::string writerOf(std::span<const ResolvedPlan> plans, const LevelLabel& what) {
  for (const ResolvedPlan& plan : plans) {
    const auto found = plan.versions.find(what);
    if (found == plan.versions.end() || found->second.empty()) continue;
    return "plan " + plan.plan->name() + ", task " + unitName(plan, found->second.front());
  }
  return "";
}

/// Which plans have run when another one does is not known, except that the first has: so that one has to
/// give Old a value. Other writers come too late, perhaps never.
void checkOldRead(std::span<const ResolvedPlan> plans, std::size_t plan, std::int32_t unit,
                  const LevelLabel& what, const LabelTable& labels, Faults& faults) {
  const std::string& name = labels.info(what.label).name;
  const std::string where = what.level > 0 ? " on level " + std::to_string(what.level) : "";
  if (plan == 0) {
    faults.push_back(headOf("the first plan reads Old, but nothing has run before it", plans[plan], unit)
                         .line("reads  Old ", name, where)
                         .line("fix    read New from a task of this plan")
                         .text());
    return;
  }
  if (plans.front().versions.count(what) > 0) return;
  const std::string writer = writerOf(plans, what);
  if (writer.empty()) {
    faults.push_back(headOf("a task reads Old of a label that no plan ever writes", plans[plan], unit)
                         .line("reads  Old ", name, where)
                         .line("fix    write it in declareInitial")
                         .text());
    return;
  }
  faults.push_back(headOf("a task reads Old of a label that has no value at the start", plans[plan], unit)
                       .line("reads  Old ", name, where)
                       .line("left   by ", writer, ", which may not have run yet; plan ",
                             plans.front().plan->name(), " does not write it")
                       .line("fix    write ", name, where, " in declareInitial as well")
                       .text());
}

}  // namespace

void checkOldReads(std::span<const ResolvedPlan> plans, const LabelTable& labels, Faults& faults) {
  for (std::size_t p = 0; p < plans.size(); ++p) {
    for (std::size_t u = 0; u < plans[p].units.size(); ++u) {
      const auto unit = static_cast<std::int32_t>(u);
      for (const ResolvedRead& read : plans[p].units[u].reads) {
        if (read.version < 0) checkOldRead(plans, p, unit, {read.label, read.level}, labels, faults);
        // Halo cells outside the level come from the level below it, which has to be written as well.
        if (p > 0 && read.coarseFill && read.coarseVersion < 0)
          checkOldRead(plans, p, unit, {read.label, read.level - 1}, labels, faults);
      }
    }
  }
}

}  // namespace tessera::detail
