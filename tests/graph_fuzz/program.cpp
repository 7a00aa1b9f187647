#include "tests/graph_fuzz/program.hpp"

#include <algorithm>

#include "taskgraph/graph_compiler.hpp"
#include "tests/graph_fuzz/element.hpp"
#include "tests/graph_fuzz/regrid_chain.hpp"
#include "tests/graph_fuzz/task_body.hpp"

namespace tessera::fuzz {
namespace {

template <class T, Centering C>
auto labelAt(LabelTable& table, const std::string& name, int components) {
  if constexpr (HasComponents<T>::value) {
    using Number = decltype([]<class N>(Components<N>) { return N{}; }(T{}));
    return table.components<Number, C>(name, components);
  } else {
    return table.variable<T, C>(name);
  }
}

template <class T>
AnyLabel labelOf(LabelTable& table, const std::string& name, Centering centering, int components = 0) {
  switch (centering) {
    case Centering::Cell:
      return labelAt<T, Cell>(table, name, components);
    case Centering::Node:
      return labelAt<T, Node>(table, name, components);
    case Centering::FaceX:
      return labelAt<T, FaceX>(table, name, components);
    case Centering::FaceY:
      return labelAt<T, FaceY>(table, name, components);
    case Centering::FaceZ:
      break;
  }
  return labelAt<T, FaceZ>(table, name, components);
}

BoundaryConditions conditionsOf(const LabelSpec& label, int component) {
  BoundaryConditions conditions;
  for (int side = 0; side < kSides; ++side) {
    const auto s = static_cast<std::size_t>(side);
    conditions.sides[s] = conditionOf(label, component, side);
    if (const auto part = partOf(label, component)) conditions.parts[s] = {*part};
  }
  return conditions;
}

template <class T, Centering C>
void setConditions(LabelTable& table, Label<T, C> label, const LabelSpec& spec) {
  if constexpr (HasComponents<T>::value) {
    std::vector<BoundaryConditions> conditions;
    for (int c = 0; c < componentsOf(spec.type); ++c) conditions.push_back(conditionsOf(spec, c));
    table.setBoundary(label, conditions);
  } else {
    table.setBoundary(label, conditionsOf(spec, 0));
  }
}

void addRead(TaskBuilder& builder, const ReadSpec& read, const AnyLabel& handle) {
  const std::string name = read.from >= 0 ? taskName(read.from) : "";
  const FromClause source = from(name);
  std::visit(
      [&](auto label) {
        switch (read.reach) {
          case Reach::Patch:
            builder.reads(read.generation, label, HaloClause{read.halo}, source);
            break;
          case Reach::Coarser:
            builder.reads(read.generation, label, fromCoarser(read.halo.lo.i), source);
            break;
          case Reach::Finer:
            builder.reads(read.generation, label, fromFiner(), source);
            break;
          case Reach::WholeLevel:
            builder.reads(read.generation, label, wholeLevel(read.level), source);
            break;
        }
      },
      handle);
}

/// In the order of declaration.
std::vector<const TaskSpec*> inPlaces(const PlanSpec& plan) {
  std::vector<const TaskSpec*> tasks;
  for (const TaskSpec& task : plan) tasks.push_back(&task);
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const TaskSpec* a, const TaskSpec* b) { return a->place < b->place; });
  return tasks;
}

AnyLabel labelOf(LabelTable& table, const std::string& name, const LabelSpec& spec) {
  switch (spec.type) {
    case NumberType::Double:
      return labelOf<double>(table, name, spec.centering);
    case NumberType::Float:
      return labelOf<float>(table, name, spec.centering);
    case NumberType::Int32:
      return labelOf<std::int32_t>(table, name, spec.centering);
    case NumberType::Int64:
      return labelOf<std::int64_t>(table, name, spec.centering);
    case NumberType::DoubleVector:
      return labelOf<Vec<double, 3>>(table, name, spec.centering);
    case NumberType::FloatVector:
      return labelOf<Vec<float, 2>>(table, name, spec.centering);
    case NumberType::DoubleComponents:
      return labelOf<Components<double>>(table, name, spec.centering, componentsOf(spec.type));
    case NumberType::FloatComponents:
      break;
  }
  return labelOf<Components<float>>(table, name, spec.centering, componentsOf(spec.type));
}

}  // namespace

Program::Program(const FuzzCase& c)
    : case_(c), hierarchy_(refinedHierarchy(c.geometry, c.division, c.refined)) {
  makeLabels();
  plans_.emplace_back(planName(0));
  for (const TaskSpec* task : inPlaces(c.plans[0])) declare(plans_[0].task(taskName(task->id)), *task);
  declareSteps();
}

/// All steps in one declaration, as components do it; each plan is a selection.
void Program::declareSteps() {
  const std::vector<PlanSpec>& plans = case_.plans;
  StepPlan steps("steps");
  const auto has = [&](std::size_t p, const TaskSpec& task) {
    return std::find(plans[p].begin(), plans[p].end(), task) != plans[p].end();
  };
  for (std::size_t p = 1; p < plans.size(); ++p) {
    for (const TaskSpec* task : inPlaces(plans[p])) {
      std::vector<std::string> names;
      bool declared = false;
      for (std::size_t q = 1; q < plans.size(); ++q) {
        if (has(q, *task)) names.push_back(planName(q));
        declared = declared || (q < p && has(q, *task));
      }
      if (declared) continue;
      TaskBuilder builder = steps.task(taskName(task->id));
      if (names.size() + 1 < plans.size()) {
        for (const std::string& name : names) builder.in(name);
      }
      declare(builder, *task);
    }
  }
  for (std::size_t p = 1; p < plans.size(); ++p) plans_.push_back(steps.selection(planName(p)));
}

void Program::makeLabels() {
  for (std::size_t n = 0; n < case_.labels.size(); ++n) {
    const LabelSpec& spec = case_.labels[n];
    labels_.push_back(labelOf(table_, "v" + std::to_string(n), spec));
    std::visit([&](auto label) { setConditions(table_, label, spec); }, labels_.back());
  }
  for (std::size_t n = 0; n < case_.reductions.size(); ++n) {
    reductions_.push_back(table_.reduction("r" + std::to_string(n)));
  }
}

void Program::declare(TaskBuilder builder, const TaskSpec& spec) {
  for (const ReadSpec& read : spec.reads)
    addRead(builder, read, labels_[static_cast<std::size_t>(read.label)]);
  for (const WriteSpec& write : spec.writes) {
    const std::string name = write.from >= 0 ? taskName(write.from) : "";
    std::visit(
        [&](auto label) {
          if (write.modifies) {
            builder.modifies(label, from(name));
          } else {
            builder.writes(label);
          }
        },
        labels_[static_cast<std::size_t>(write.label)]);
  }
  for (const int number : spec.contributions) {
    const ReductionLabel label = reductions_[static_cast<std::size_t>(number)];
    switch (case_.reductions[static_cast<std::size_t>(number)]) {
      case ReductionKind::Min:
        builder.contributes(label, Min);
        break;
      case ReductionKind::Max:
        builder.contributes(label, Max);
        break;
      case ReductionKind::Sum:
        builder.contributes(label, Sum);
        break;
    }
  }
  if (spec.oncePerRank) builder.oncePerRank();
  if (spec.oncePerLevel) builder.oncePerLevel();
  builder.on(spec.levels);
  builder.runs(bodyOf(*this, spec));
}

RankMap Program::owners(const ShapeSpec& shape) const {
  if (shape.seed % 4 == 0) return distribute(*hierarchy_, shape.ranks);
  RankMap owners(static_cast<std::size_t>(hierarchy_->patchCount()));
  std::uint64_t state = shape.seed;
  for (Rank& owner : owners) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    owner = static_cast<Rank>((state >> 33) % static_cast<std::uint64_t>(shape.ranks));
  }
  return owners;
}

std::vector<const StepPlan*> Program::plans() const {
  std::vector<const StepPlan*> plans;
  for (const StepPlan& plan : plans_) plans.push_back(&plan);
  return plans;
}

std::vector<LabelId> Program::kept() const {
  std::vector<LabelId> kept;
  for (std::size_t n = 0; n < case_.labels.size(); ++n) {
    if (case_.labels[n].kept) kept.push_back(static_cast<LabelId>(n));
  }
  return kept;
}

std::vector<CompiledGraphs> Program::compile(const ShapeSpec& shape, WindowSharing sharing,
                                             const CutPlans* cut) const {
  if (shape.regrids > 0) return RegridChain(*this, shape, cut).run();
  const RankMap owners = this->owners(shape);
  std::vector<CompiledGraphs> graphs;
  const BufferReuse reuse = shape.reuse ? BufferReuse::On : BufferReuse::Off;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    CompileInput input{hierarchy_, &table_, &owners, rank, shape.ranks, kTagBound, reuse, kept(), sharing};
    input.scratch.above = shape.scratchAbove();
    if (cut != nullptr) input.items = cut->items();
    graphs.push_back(compileGraphs(cut == nullptr ? plans() : cut->plans(), input));
  }
  return graphs;
}

}  // namespace tessera::fuzz
