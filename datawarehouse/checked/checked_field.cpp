#include "datawarehouse/checked/checked_field.hpp"

#include <algorithm>
#include <string>

#include "datawarehouse/checked/checked_table.hpp"

namespace tessera::detail {
namespace {

const char* clauseFor(AccessMode mode) {
  switch (mode) {
    case AccessMode::ReadOld:
      return ".reads(Old, ";
    case AccessMode::ReadNew:
      return ".reads(New, ";
    case AccessMode::Write:
      return ".writes(";
    case AccessMode::Modify:
      return ".modifies(";
    case AccessMode::Scratch:
      return ".scratch(";
  }
  return "";
}

const char* callFor(AccessMode mode) {
  switch (mode) {
    case AccessMode::ReadOld:
      return "read(Old, ";
    case AccessMode::ReadNew:
      return "read(New, ";
    case AccessMode::Write:
      return "write(";
    case AccessMode::Modify:
      return "modify(";
    case AccessMode::Scratch:
      return "scratch(";
  }
  return "";
}

const char* verbFor(AccessMode mode) {
  switch (mode) {
    case AccessMode::ReadOld:
      return "reads Old ";
    case AccessMode::ReadNew:
      return "reads New ";
    case AccessMode::Write:
      return "writes ";
    case AccessMode::Modify:
      return "modifies ";
    case AccessMode::Scratch:
      return "has as scratch ";
  }
  return "";
}

const char* clauseFor(Reach reach) {
  switch (reach) {
    case Reach::Patch:
      return "";
    case Reach::Coarser:
      return ", fromCoarser()";
    case Reach::Finer:
      return ", fromFiner()";
    case Reach::WholeLevel:
      return ", wholeLevel()";
  }
  return "";
}

/// The patch of the task, or that it has none.
std::string placeOf(const TaskFrame& frame) {
  if (frame.patch != nullptr) return " on patch " + asText(*frame.patch);
  return frame.patches != nullptr ? " on all patches of a level" : " once a rank";
}

/// How many layers `x` lies outside a box of cells.
std::int64_t layersOutside(const Box& cells, Index x) {
  std::int64_t layers = 0;
  for (int d = 0; d < kAxes; ++d) {
    layers = std::max({layers, cells.lo[d] - x[d], x[d] - cells.hi[d] + 1});
  }
  return layers;
}

/// Throws: the task uses `name`, a number or a table, without the clause that says so.
[[noreturn]] void reportUnsaid(const TaskFrame& frame, const char* says, const char* what,
                               const std::string& name, const std::string& clause) {
  throw UndeclaredAccess(Message(says)
                             .line("task      ", frame.task, placeOf(frame))
                             .line(what, name)
                             .line("declared  at ", frame.declaredAt)
                             .line("fix       add ", clause, " to ", frame.task)
                             .text(),
                         name);
}

}  // namespace

void reportUndeclared(const TaskFrame& frame, LabelId label, AccessMode wanted, Reach reach) {
  const std::string& name = frame.labels->info(label).name;
  if (frame.patches != nullptr && reach != Reach::WholeLevel) {
    throw UndeclaredAccess(
        Message("task on all patches of a level uses a label without saying on which patch")
            .line("task      ", frame.task)
            .line("uses      ", verbFor(wanted), name)
            .line("declared  at ", frame.declaredAt)
            .line("fix       ask the patch: task.forEachPatch([&](const auto& patch) { patch.",
                  callFor(wanted), name, ") ... })")
            .text(),
        name);
  }
  throw UndeclaredAccess(
      Message("task uses a label that it did not declare")
          .line("task      ", frame.task, placeOf(frame))
          .line("uses      ", verbFor(wanted), name)
          .line("declared  at ", frame.declaredAt)
          .line("fix       add ", clauseFor(wanted), name, clauseFor(reach), ") to ", frame.task)
          .text(),
      name);
}

void reportUndeclaredReduction(const TaskFrame& frame, ReductionLabel reduction) {
  const std::string& name = frame.labels->reductionName(reduction.id);
  reportUnsaid(frame, "task contributes to a reduction that it did not declare", "reduction ", name,
               ".contributes(" + name + ", Min|Max|Sum)");
}

void reportSecondContribution(const TaskFrame& frame, ReductionLabel reduction) {
  const std::string& name = frame.labels->reductionName(reduction.id);
  throw UndeclaredAccess(
      Message("task contributes to a sum twice on one patch")
          .line("task      ", frame.task, placeOf(frame))
          .line("reduction ", name)
          .line("declared  at ", frame.declaredAt)
          .line("fix       add the parts in one ExactSum, and call task.contribute(", name, ", sum) once")
          .text(),
      name);
}

void reportUndeclaredReduced(const TaskFrame& frame, ReductionLabel reduction) {
  const std::string& name = frame.labels->reductionName(reduction.id);
  reportUnsaid(frame, "task reads a reduction that it did not declare", "reduction ", name,
               ".reads(" + name + ")");
}

void reportUndeclaredTable(const TaskFrame& frame, TableLabel table) {
  const std::string name = table.id < 0 ? "a table that nobody has made" : frame.labels->table(table.id).name;
  reportUnsaid(frame, "task looks into a constant table that it did not declare", "table     ", name,
               ".reads(" + name + ")");
}

void reportOutsideTable(const TaskFrame& frame, TableLabel table, std::int64_t place) {
  const TableInfo& info = frame.labels->table(table.id);
  throw UndeclaredAccess(Message("task looks beyond the end of a constant table")
                             .line("task      ", frame.task, placeOf(frame))
                             .line("table     ", info.name, " at ", place)
                             .line("has       ", info.values->size(), " numbers, from 0 on")
                             .line("declared  at ", frame.declaredAt)
                             .line("fix       keep the place within table.size()")
                             .text(),
                         info.name);
}

void reportUndeclaredDt(const TaskFrame& frame) {
  throw UndeclaredAccess(Message("task uses the length of the step, but is declared without it")
                             .line("task      ", frame.task, placeOf(frame))
                             .line("declared  at ", frame.declaredAt)
                             .line("fix       remove .withoutDt() from ", frame.task)
                             .text(),
                         "dt");
}

void expectCovered(const TaskFrame& frame, const TaskAccess& access, Index x) {
  const LabelInfo& info = frame.labels->info(access.label);
  const Level& level = frame.hierarchy->level(access.level);
  if (level.exists(x, info.centering)) return;
  throw UndeclaredAccess(Message("task reads a part of a level that no patch covers")
                             .line("task      ", frame.task, placeOf(frame))
                             .line("reads     ", info.name, " at ", asText(info.centering), " ", asText(x),
                                   " of level ", access.level)
                             .line("declared  the whole level at ", frame.declaredAt)
                             .line("fix       read what the patches of that level own: "
                                   "task.hierarchy().level(",
                                   access.level, ").forEachOverlapping(...)")
                             .text(),
                         info.name);
}

void expectBesideFace(const TaskFrame& frame, const TaskAccess& access, Index x) {
  const LabelInfo& info = frame.labels->info(access.label);
  const Patch& patch = *frame.patch;
  const Box inner =
      boundingBox(frame.hierarchy->level(access.level).closedBox(patch, info.centering), patch.cells);
  int axes = 0;
  for (int d = 0; d < kAxes; ++d) axes += x[d] < inner.lo[d] || x[d] >= inner.hi[d] ? 1 : 0;
  if (axes <= 1) return;
  throw UndeclaredAccess(Message("task reads an edge or corner of a halo of which it declared the faces")
                             .line("task      ", frame.task, placeOf(frame))
                             .line("reads     ", info.name, " at ", asText(info.centering), " ", asText(x),
                                   ", outside the patch along ", axes, " axes")
                             .line("declared  faceHalo(...) at ", frame.declaredAt)
                             .line("fix       declare halo(", layersOutside(patch.cells, x), ") for ",
                                   info.name, " in ", frame.task)
                             .text(),
                         info.name);
}

void reportUnwrittenScratch(const TaskFrame& frame, const TaskAccess& access, Index x,
                            std::int32_t component) {
  const LabelInfo& info = frame.labels->info(access.label);
  throw UndeclaredAccess(
      Message("task reads scratch that it has not written")
          .line("task      ", frame.task, placeOf(frame))
          .line("reads     ", info.nameOf(component), " at ", asText(info.centering), " ", asText(x))
          .line("declared  ", asText(access.declared), " at ", frame.declaredAt)
          .line("fix       write it in an earlier loop of the same body, through task.scratch(", info.name,
                ")")
          .text(),
      info.name);
}

void reportNoComponent(const TaskFrame& frame, const TaskAccess& access, std::int32_t component) {
  const LabelInfo& info = frame.labels->info(access.label);
  const std::int32_t last = info.type.components - 1;
  throw UndeclaredAccess(Message("task uses a component that a variable does not have")
                             .line("task      ", frame.task, placeOf(frame))
                             .line("uses      ", info.name, "[", component, "]")
                             .line("declared  at ", frame.declaredAt)
                             .line("fix       use components 0 to ", last, ", or make ", info.name,
                                   " with more of them (LabelTable::components)")
                             .text(),
                         info.name);
}

void reportOutside(const TaskFrame& frame, const TaskAccess& access, Index x, std::int32_t component) {
  const LabelInfo& info = frame.labels->info(access.label);
  if (access.reach != Reach::Patch) {
    throw UndeclaredAccess(Message("task reads another level beyond what it declared")
                               .line("task      ", frame.task, placeOf(frame))
                               .line("reads     ", info.nameOf(component), " at ", asText(info.centering),
                                     " ", asText(x), " of level ", access.level)
                               .line("declared  ", asText(access.declared), " at ", frame.declaredAt)
                               .line("fix       ", access.reach == Reach::Coarser
                                                       ? "declare more layers: fromCoarser(n)"
                                                       : "stay inside the declared part of that level")
                               .text(),
                           info.name);
  }
  const std::int64_t layers = layersOutside(frame.patch->cells, x);
  const bool reading = !isOutput(access.mode) && access.mode != AccessMode::Scratch;
  const bool scratch = access.mode == AccessMode::Scratch;
  Message message(reading   ? "task reads more halo than it declared"
                  : scratch ? "task uses more scratch than it declared"
                            : "task writes outside its patch");
  message.line("task      ", frame.task, placeOf(frame))
      .line(reading ? "reads     " : "writes    ", info.nameOf(component), " at ", asText(info.centering),
            " ", asText(x), ", ", layers, layers == 1 ? " layer" : " layers", " outside the patch")
      .line("declared  ", asText(access.declared), " at ", frame.declaredAt);
  if (reading || scratch) {
    message.line("fix       declare halo(", layers, ") for ", info.name, " in ", frame.task);
  } else {
    message.line(
        "fix       write only task.interior(), or move the work to the task of the neighbouring patch");
  }
  throw UndeclaredAccess(message.text(), info.name);
}

}  // namespace tessera::detail
