#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/exec/exec.hpp"
#include "core/id_vector.hpp"
#include "core/text/source_location.hpp"
#include "grid/final_loop.hpp"
#include "taskgraph/access.hpp"
#include "taskgraph/ids.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// Everything declared about one task; plain data that the graph compiler reads.
struct TaskDeclaration {
  std::string name;  ///< "Component::verb"
  SourceLocation where;
  std::vector<ReadDeclaration> reads;
  std::vector<WriteDeclaration> writes;
  std::vector<FinalLoop> finalLoops;  ///< of labels among `writes`
  std::vector<ScratchDeclaration> scratch;
  std::vector<ContributionDeclaration> contributions;
  std::vector<LabelId> readsTables;   ///< constant tables
  std::vector<LabelId> readsReduced;  ///< reductions of earlier items of a step program
  LevelSelection levels;
  std::vector<std::string> plans;  ///< step plans that it takes part in; empty: all
  bool oncePerRank = false;
  bool oncePerLevel = false;
  bool usesDt = true;
  int priority = 0;
  int streams = 1;
  TaskBody body;
};

/// Adds clauses to one task; returned by `StepPlan::task`. Clauses may stand in any order.
class TaskBuilder {
 public:
  explicit TaskBuilder(TaskDeclaration& task) : task_(task) {}

  /// The task reads `label` of `generation` on its patch, with `halo(...)` cells around it, or elsewhere:
  /// `fromCoarser(n)`, `fromFiner()`, `wholeLevel(l)`.
  template <class T, Centering C, class... Clauses>
  TaskBuilder& reads(Generation generation, Label<T, C> label, const Clauses&... clauses) {
    ReadDeclaration read;
    read.generation = generation;
    read.label = label.id;
    (apply(read, clauses), ...);
    task_.reads.push_back(std::move(read));
    return *this;
  }
  /// The task asks for `task.reduced(reduction)`: what an earlier item of the step program has found.
  TaskBuilder& reads(ReductionLabel reduction) {
    task_.readsReduced.push_back(reduction.id);
    return *this;
  }
  /// The task asks for `task.table(table)`.
  TaskBuilder& reads(TableLabel table) {
    task_.readsTables.push_back(table.id);
    return *this;
  }
  /// The task computes the New value of `label` on every cell of its patch; with `inLoop(...)` in one loop.
  template <class T, Centering C, class... Clauses>
  TaskBuilder& writes(Label<T, C> label, const Clauses&... clauses) {
    task_.writes.push_back({label.id, false, {}});
    (apply(task_.writes.back(), clauses), ...);
    return *this;
  }
  /// The task changes, in place, the New value that another task wrote; `from(task)` where several did.
  template <class T, Centering C, class... Clauses>
  TaskBuilder& modifies(Label<T, C> label, const Clauses&... clauses) {
    task_.writes.push_back({label.id, true, {}});
    (apply(task_.writes.back(), clauses), ...);
    return *this;
  }
  /// The task has a field of the label's type and centering for itself while it runs on a patch: on all cells
  /// of the patch and, with `halo(n)`, so many around it, both borders of nodes and faces included. The label
  /// names it; no task writes or reads it as a variable. The body takes it by `task.scratch(label)` to write
  /// it and by `task.readScratch(label)` to read what it has written. For fluxes and slopes that are computed
  /// once and used twice: the memory is the worker's, used again by its next task, and on devices that of the
  /// launch.
  template <class T, Centering C>
  TaskBuilder& scratch(Label<T, C> label, const HaloClause& grow = {}) {
    task_.scratch.push_back({label.id, grow.layers});
    return *this;
  }
  /// The task calls `contribute(reduction, value)` on every patch.
  template <class Tag>
  TaskBuilder& contributes(ReductionLabel reduction, Tag) {
    constexpr ReductionKind kind = std::is_same_v<Tag, MinTag>   ? ReductionKind::Min
                                   : std::is_same_v<Tag, MaxTag> ? ReductionKind::Max
                                                                 : ReductionKind::Sum;
    task_.contributions.push_back({reduction.id, kind});
    return *this;
  }
  /// The task runs on these levels only.
  TaskBuilder& on(LevelSelection levels) {
    task_.levels = levels;
    return *this;
  }
  TaskBuilder& on(LevelId level) { return on(onlyLevel(level)); }
  /// The task takes part in these step plans only (`Component::stepPlans`), "step" being the usual one;
  /// without this clause in all of them. Only for tasks of `declareStep`.
  template <class... Names>
  TaskBuilder& in(const Names&... names) {
    (task_.plans.emplace_back(names), ...);
    return *this;
  }
  /// The task runs once on each rank, without a patch: it may read whole levels and contribute to reductions.
  TaskBuilder& oncePerRank() {
    task_.oncePerRank = true;
    return *this;
  }
  /// The task runs once on each rank for each of its levels, with all patches of the level that the rank has:
  /// `task.forEachPatch(visit)` gives what a task on one of them would see, as often as the body asks. Runs
  /// on the host. For what looks at many patches at once: flags of a regridder, matrices of a solver, rays.
  TaskBuilder& oncePerLevel() {
    task_.oncePerLevel = true;
    return *this;
  }
  /// The task never calls `task.dt()`: it may run before the length of the step is known, which the last
  /// step's reductions decide.
  TaskBuilder& withoutDt() {
    task_.usesDt = false;
    return *this;
  }
  /// Higher runs earlier among ready tasks.
  TaskBuilder& priority(int value) {
    task_.priority = value;
    return *this;
  }
  /// The device part is split over `n` streams.
  TaskBuilder& streams(int n) {
    task_.streams = n;
    return *this;
  }
  /// The body, a callable that takes `const auto& task`, for all listed places: runs<Cpu>, runs<Cpu, Gpu>.
  template <class... Places, class Body>
  TaskBuilder& runs(const Body& body) {
    return runs(taskBody<Places...>(body));
  }
  /// A body at another place, made of what that place asks for: runs<engine::Engine>(engine, body).
  template <class Place, class... Parts>
  requires requires(const Parts&... parts) { BodyAt<Place>::make(parts...); }
  TaskBuilder& runs(const Parts&... parts) { return runs(BodyAt<Place>::make(parts...)); }
  /// A body that a source of kernels has made (taskgraph/task_body.hpp).
  TaskBuilder& runs(TaskBody body) {
    task_.body = std::move(body);
    return *this;
  }

 private:
  static void apply(ReadDeclaration& read, const HaloClause& clause) {
    read.halo = clause.layers;
    read.facesOnly = clause.facesOnly;
  }
  static void apply(ReadDeclaration& read, const WholeLevelClause& clause) {
    read.reach = Reach::WholeLevel;
    read.level = clause.level;
  }
  static void apply(ReadDeclaration& read, const FromCoarserClause& clause) {
    read.reach = Reach::Coarser;
    read.halo = uniformHalo(clause.layers);
  }
  static void apply(ReadDeclaration& read, const FromFinerClause&) { read.reach = Reach::Finer; }
  static void apply(ReadDeclaration& read, const FromClause& clause) { read.from = clause.task; }
  void apply(WriteDeclaration& write, const FromClause& clause) { write.from = clause.task; }
  void apply(const WriteDeclaration& write, const InLoopClause& clause) {
    task_.finalLoops.push_back({write.label, std::string(clause.loop)});
  }

  TaskDeclaration& task_;
};

/// The task declarations of one kind of time step, in the order of declaration (which the graph compiler does
/// not depend on). Filled by `Component::declareStep` and its siblings.
///
///   step.task("Diffusion::advance")
///       .reads(Old, temperature_, halo(1))
///       .writes(temperature_)
///       .runs<Cpu>([T = temperature_, p = params_](const auto& task) { advance(task, T, p); });
class StepPlan {
 public:
  explicit StepPlan(std::string name) : name_(std::move(name)) {}

  /// Starts a task. `name` is what people see everywhere: "Component::verb".
  TaskBuilder task(std::string_view name, SourceLocation where = SourceLocation::current()) {
    tasks_.emplace_back();
    tasks_.back().name = name;
    tasks_.back().where = where;
    return TaskBuilder(tasks_.back());
  }

  /// Adds a task that another plan has declared.
  void add(const TaskDeclaration& task) { tasks_.push_back(task); }

  /// The plan of that name: the tasks that take part in it, in the order of declaration.
  StepPlan selection(std::string name) const {
    StepPlan chosen(std::move(name));
    for (const TaskDeclaration& task : tasks_) {
      const bool named = std::find(task.plans.begin(), task.plans.end(), chosen.name_) != task.plans.end();
      if (named || task.plans.empty()) chosen.tasks_.push_back(task);
    }
    return chosen;
  }

  const std::string& name() const { return name_; }
  const std::deque<TaskDeclaration>& tasks() const { return tasks_; }
  const TaskDeclaration& task(TaskId id) const { return tasks_[id.index()]; }
  IdRange<TaskId> taskIds() const { return {TaskId(0), TaskId(tasks_.size())}; }

 private:
  std::string name_;
  std::deque<TaskDeclaration> tasks_;  // a deque: builders keep references
};

}  // namespace tessera
