#include "tools/graph_fuzz/program.hpp"

#include <algorithm>

#include "taskgraph/graph_compiler.hpp"
#include "tools/graph_fuzz/detail/task_body.hpp"
#include "tools/graph_fuzz/regrid_chain.hpp"

namespace tessera::fuzz {
namespace {

template <class T>
AnyLabel labelOf(LabelTable& table, const std::string& name, Centering centering) {
  switch (centering) {
    case Centering::Cell:
      return table.variable<T, Cell>(name);
    case Centering::Node:
      return table.variable<T, Node>(name);
    case Centering::FaceX:
      return table.variable<T, FaceX>(name);
    case Centering::FaceY:
      return table.variable<T, FaceY>(name);
    case Centering::FaceZ:
      break;
  }
  return table.variable<T, FaceZ>(name);
}

BoundaryConditions conditionsOf(const LabelSpec& label) {
  BoundaryConditions conditions;
  for (std::size_t side = 0; side < label.conditions.size(); ++side) {
    const bool given = label.conditions[side] == BoundaryKind::Dirichlet;
    conditions.sides[side] =
        BoundaryConditions::everywhere(label.conditions[side], given ? label.dirichlet : 0.0).sides[side];
  }
  return conditions;
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

}  // namespace

Program::Program(const FuzzCase& c)
    : case_(c), hierarchy_(refinedHierarchy(c.geometry, c.division, c.refined)) {
  makeLabels();
  for (std::size_t p = 0; p < c.plans.size(); ++p) {
    plans_.emplace_back("plan" + std::to_string(p));
    std::vector<const TaskSpec*> declared;
    for (const TaskSpec& task : c.plans[p]) declared.push_back(&task);
    std::stable_sort(declared.begin(), declared.end(),
                     [](const TaskSpec* a, const TaskSpec* b) { return a->place < b->place; });
    for (const TaskSpec* task : declared) declare(plans_.back(), *task);
  }
}

void Program::makeLabels() {
  for (std::size_t n = 0; n < case_.labels.size(); ++n) {
    const LabelSpec& spec = case_.labels[n];
    const std::string name = "v" + std::to_string(n);
    labels_.push_back(spec.single ? labelOf<float>(table_, name, spec.centering)
                                  : labelOf<double>(table_, name, spec.centering));
    std::visit([&](auto label) { table_.setBoundary(label, conditionsOf(spec)); }, labels_.back());
  }
  for (std::size_t n = 0; n < case_.reductions.size(); ++n) {
    reductions_.push_back(table_.reduction("r" + std::to_string(n)));
  }
}

void Program::declare(StepPlan& plan, const TaskSpec& spec) {
  TaskBuilder builder = plan.task(taskName(spec.id));
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
  builder.on(spec.levels);
  builder.runs<Cpu>(
      [this, spec](const auto& task) { TaskBodyRun<std::decay_t<decltype(task)>>(task, *this, spec).run(); });
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

std::vector<CompiledGraphs> Program::compile(const ShapeSpec& shape) const {
  if (shape.regrids > 0) return RegridChain(*this, shape).run();
  const RankMap owners = this->owners(shape);
  std::vector<CompiledGraphs> graphs;
  const BufferReuse reuse = shape.reuse ? BufferReuse::On : BufferReuse::Off;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    graphs.push_back(
        compileGraphs(plans(), {hierarchy_, &table_, &owners, rank, shape.ranks, kTagBound, reuse, kept()}));
  }
  return graphs;
}

}  // namespace tessera::fuzz
