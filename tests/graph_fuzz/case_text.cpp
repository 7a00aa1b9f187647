#include <algorithm>
#include <sstream>

#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {
namespace {

std::string haloText(const Halo& h) { return "halo(" + asText(h.lo) + ", " + asText(h.hi) + ")"; }

std::string levelsText(const LevelSelection& levels) {
  switch (levels.kind) {
    case LevelSelection::Kind::All:
      return "";
    case LevelSelection::Kind::One:
      return " on(" + std::to_string(levels.level) + ")";
    case LevelSelection::Kind::Finest:
      return " on(finestLevel())";
    case LevelSelection::Kind::AllButFinest:
      return " on(allButFinest())";
    case LevelSelection::Kind::Some:
      return " on(someLevels(" + std::to_string(levels.some) + "))";
    case LevelSelection::Kind::AllButCoarsest:
      break;
  }
  return " on(allButCoarsest())";
}

std::string readText(const ReadSpec& read) {
  std::string text = read.generation == Generation::Old ? " reads(Old, v" : " reads(New, v";
  text += std::to_string(read.label);
  switch (read.reach) {
    case Reach::Patch:
      if (!read.halo.isZero()) text += ", " + haloText(read.halo);
      break;
    case Reach::Coarser:
      text += ", fromCoarser(" + std::to_string(read.halo.lo.i) + ")";
      break;
    case Reach::Finer:
      text += ", fromFiner()";
      break;
    case Reach::WholeLevel:
      text += ", wholeLevel(" + std::to_string(read.level) + ")";
      break;
  }
  if (read.from >= 0) text += ", from(" + taskName(read.from) + ")";
  return text + ")";
}

void writeTask(std::ostream& out, const TaskSpec& task) {
  out << "    " << taskName(task.id) << levelsText(task.levels) << (task.oncePerRank ? " oncePerRank" : "")
      << (task.oncePerLevel ? " oncePerLevel" : "");
  for (const ReadSpec& read : task.reads) out << readText(read);
  for (const WriteSpec& write : task.writes) {
    out << (write.modifies ? " modifies(v" : " writes(v") << write.label;
    if (write.from >= 0) out << ", from(" << taskName(write.from) << ")";
    out << ")";
  }
  for (const int reduction : task.contributions) out << " contributes(r" << reduction << ")";
  out << '\n';
}

void writeMesh(std::ostream& out, const FuzzCase& c) {
  out << "  mesh    cells " << asText(c.geometry.cells) << ", periodic (" << c.geometry.periodic[0] << ", "
      << c.geometry.periodic[1] << ", " << c.geometry.periodic[2] << "), "
      << (c.division.by == Division::By::Patches ? "patches " : "patch_size ") << asText(c.division.value)
      << '\n';
  for (const RefinedLevel& level : c.refined) {
    out << "  level   ratio " << level.ratio << ", patch_size " << asText(level.patchSize) << ", boxes";
    for (const Box& box : level.boxes) out << ' ' << asText(box);
    out << '\n';
  }
}

}  // namespace

std::string taskName(int id) { return "Fuzz::t" + std::to_string(id); }

std::string planName(std::size_t plan) { return "plan" + std::to_string(plan); }

std::string asText(NumberType type) {
  const char* names[] = {"double", "float", "int32", "int64", "double[3]", "float[2]", "3 double", "2 float"};
  return names[static_cast<std::size_t>(type)];
}

SideCondition conditionOf(const LabelSpec& label, int component, int side) {
  const auto s = static_cast<std::size_t>(side);
  const bool any = !label.components.empty();
  const ComponentSpec* own = any ? &label.components[static_cast<std::size_t>(component)] : nullptr;
  SideCondition condition{any ? own->conditions[s] : label.conditions[s], Expression::constant(0.0)};
  const bool given = condition.kind == BoundaryKind::Dirichlet || condition.kind == BoundaryKind::Given;
  if (given) condition.value = Expression::constant(label.dirichlet + 7 * component);
  if (any && own->odd) condition.sign = -1;
  return condition;
}

std::optional<SideCondition> partOf(const LabelSpec& label, int component) {
  if (label.components.empty()) return {};
  const ComponentSpec& own = label.components[static_cast<std::size_t>(component)];
  if (own.part == 0) return {};
  LabelSpec plain = label;
  plain.components[static_cast<std::size_t>(component)].conditions.fill(own.ofPart);
  SideCondition condition = conditionOf(plain, component, 0);
  condition.within = Expression::parse("x + 2*y + 3*z < " + std::to_string(own.part) + " / 100.0001");
  return condition;
}

std::string asText(const FuzzCase& c) {
  std::ostringstream out;
  writeMesh(out, c);
  const char* kinds[] = {"dirichlet", "neumann", "outflow", "given", "reflect"};
  for (std::size_t n = 0; n < c.labels.size(); ++n) {
    const LabelSpec& label = c.labels[n];
    out << "  label   v" << n << ' ' << asText(label.type) << " per " << tessera::asText(label.centering)
        << ", conditions";
    for (const BoundaryKind kind : label.conditions) out << ' ' << kinds[static_cast<std::size_t>(kind)];
    for (const ComponentSpec& own : label.components) {
      out << "; " << (own.odd ? "odd" : "even");
      for (const BoundaryKind kind : own.conditions) out << ' ' << kinds[static_cast<std::size_t>(kind)];
      if (own.part > 0) out << ", below " << own.part << ' ' << kinds[static_cast<std::size_t>(own.ofPart)];
    }
    out << " (" << label.dirichlet << ")" << (label.kept ? ", kept" : "") << '\n';
  }
  const char* reductions[] = {"min", "max", "sum"};
  for (std::size_t n = 0; n < c.reductions.size(); ++n) {
    out << "  number  r" << n << ' ' << reductions[static_cast<std::size_t>(c.reductions[n])] << '\n';
  }
  for (std::size_t n = 0; n < c.plans.size(); ++n) {
    out << "  plan " << n << '\n';
    PlanSpec declared = c.plans[n];
    std::stable_sort(declared.begin(), declared.end(),
                     [](const TaskSpec& a, const TaskSpec& b) { return a.place < b.place; });
    for (const TaskSpec& task : declared) writeTask(out, task);
  }
  out << "  runs    plan 0";
  for (const int plan : c.steps) out << ", " << plan;
  out << '\n';
  for (const ShapeSpec& shape : c.shapes) {
    out << "  shape   " << shape.ranks << " ranks, " << shape.threads << " threads"
        << (shape.checked ? ", checked" : "") << (shape.delays ? ", delays" : "")
        << (shape.cuts > 0 ? ", plans cut at " + std::to_string(shape.cuts) + " lines" : "")
        << (shape.regrids > 0 ? ", after " + std::to_string(shape.regrids) + " regrids" : "")
        << (shape.reuse ? ", shared memory" : "") << (shape.scratch ? ", scratch windows" : "") << ", seed "
        << shape.seed << '\n';
  }
  return out.str();
}

}  // namespace tessera::fuzz
