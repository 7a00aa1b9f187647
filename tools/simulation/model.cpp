#include "tools/simulation/model.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/build_info.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/sha256.hpp"
#include "core/text/nearest_name.hpp"
#include "grid/balance/deal_out.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/task_place.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/level_stencils.hpp"
#include "tools/simulation/program/program_check.hpp"

namespace tessera {
namespace {

/// Keys that say how a run is divided, how long it goes on and what it leaves, but change no bit of a state.
bool decidesBits(std::string_view name) {
  for (const std::string_view table :
       {"checkpoint.", "history.", "analysis.", "device.", "balance.", "units."}) {
    if (name.substr(0, table.size()) == table) return false;
  }
  if (name.substr(0, 7) == "output.") return name == "output.every";  // steps land on its times
  return name != "simulation.title" && name != "time.max_steps" && name != "grid.patches" &&
         name != "grid.patch_size" && name != "grid.level.patch_size" && name != "amr.max_cells" &&
         name != "amr.patch_size";
}

std::optional<std::size_t> findPlan(const std::vector<StepPlan>& plans, const std::string& name) {
  for (std::size_t p = 0; p < plans.size(); ++p) {
    if (plans[p].name() == name) return p;
  }
  return {};
}

const StepProgram* findProgram(const std::vector<StepProgram>& programs, const std::string& name) {
  const auto found = std::find_if(programs.begin(), programs.end(),
                                  [&](const StepProgram& program) { return program.name() == name; });
  return found == programs.end() ? nullptr : &*found;
}

/// The plan of the statistics of [analysis], where steps are programs.
const char* const kStatistics = "statistics";

/// Whether a program is the plan of its name and nothing else, but for the statistics before it. Such a
/// program there is for each plan, also for those that are parts of steps and never a step: they need what
/// other parts leave.
bool isPlanAlone(const StepProgram& program) {
  const std::vector<std::string> plans = program.plans();
  if (plans.empty() || plans.back() != program.name()) return false;
  return program.isOnePlan() ||
         (plans.size() == 2 && program.items().size() == 2 && plans.front() == kStatistics);
}

}  // namespace

StoragePolicy withDevices(StoragePolicy storage, const DeviceOptions& devices) {
  // Patches of a window may be the host's for a while.
  const bool moves = devices.placement == DevicePlacement::Cost;
  if (moves) storage.sharing = WindowSharing::Off;
  storage.devices = static_cast<int>(devices.numbers.size());
  storage.scratch = {};
  return storage;
}

Model::Model(const Deck& deck, const ComponentRegistry& registry) {
  const Schema schema = schemaFor(deck, registry);
  declare(deck, schema, registry);
  describeIdentity(deck, schema);
}

OwnedMesh Model::meshOfDeck(int ranks) const {
  OwnedMesh mesh{following_ ? following_->staticMesh(settings_.division)
                            : refinedHierarchy(settings_.geometry, settings_.division, settings_.levels),
                 {}};
  mesh.owners = ownersOf(*mesh.hierarchy, ranks);
  return mesh;
}

RankMap Model::ownersOf(const Hierarchy& hierarchy, int ranks) const {
  return dealOut(hierarchy, costsByCells(hierarchy, stepsOfLevels()), ranks, settings_.balance.rules);
}

OwnedMesh Model::meshOf(const CheckpointReader& checkpoint, int ranks) const {
  OwnedMesh mesh = meshOfDeck(ranks);
  CheckpointIdentity ours = identity_;
  ours.mesh = mesh.hierarchy;
  checkpoint.requireSame(ours);
  mesh.hierarchy = checkpoint.identity().mesh;
  mesh.owners = ownersOf(*mesh.hierarchy, ranks);
  return mesh;
}

void Model::check(const Deck& deck, const ComponentRegistry& registry) {
  const Model model(deck, registry);
  if (!model.labels_.faults().empty()) throw PlanError(model.labels_.faults());
  model.outputLabels();
  model.checkStep(deck);
}

/// The first step follows the initial plan, so its length has to be known from there.
void Model::checkStep(const Deck& deck) const {
  const TimeSettings& time = settings_.time;
  if (time.dt || time.dtMax || time.maxSteps == 0) return;
  for (const TaskDeclaration& task : plans_.front().tasks()) {
    for (const ContributionDeclaration& contribution : task.contributions) {
      if (contribution.reduction == stableDt_.id) return;
    }
  }
  const DeckNode* table = deck.find("time");
  DeckDiagnostics findings;
  findings.error(table == nullptr ? DeckLocation() : table->where,
                 "no component says how long a time step may be; give time.dt (a fixed step) or time.dt_max");
  findings.throwIfErrors();
}

void Model::declare(const Deck& deck, const Schema& schema, const ComponentRegistry& registry) {
  settings_ = settingsOf(deck, schema);
  if (settings_.regrid) checkRegrid(settings_).throwIfErrors();
  stableDt_ = labels_.reduction("stable_dt");

  ComponentSetup setup{labels_,
                       settings_.geometry,
                       stableDt_,
                       settings_.time.cfl,
                       settings_.time.cflWhere,
                       {},
                       static_cast<int>(settings_.levels.size()) + 1,
                       settings_.time.retries,
                       settings_.prolongation,
                       settings_.refluxes,
                       settings_.subcycles,
                       settings_.subcycleWhere};
  std::string faults;
  for (const std::string& name : settings_.components) {
    std::unique_ptr<Component> component = registry.make(name);
    try {
      const ParameterValues values = valuesOf(deck, schema, name);
      for (const Expression& one : values.expressions()) expressions_.push_back(one);
      component->configure(values, setup);
    } catch (const DeckError& error) {
      faults += (faults.empty() ? "" : "\n") + error.message();
    }
    components_.push_back(std::move(component));
  }
  if (!faults.empty()) throw DeckError(faults);
  for (const Expression& one : setup.composed) expressions_.push_back(one);
  checkSubcycled();
  declarePlans();
  const StandInsByPlan standIns = subcycled_ ? subcycled_->standIns() : StandInsByPlan{};
  if (!settings_.levels.empty() && !settings_.regrid)
    checkStencils(valuesOf(deck, schema, "grid"), settings_.levels, plans_, labels_, standIns)
        .throwIfErrors();
  findPersistent();
  declareAnalysis();
  if (settings_.regrid) {
    following_ = std::make_unique<MeshFollowing>(settings_, labels_, persistent_);
    const std::vector<Diagnostic> counts = following_->declareCounts(plans_[2]);
    // Those of [analysis] stay the last: they may go to a file of their own.
    diagnostics_.insert(diagnostics_.end() - std::ssize(analysis_.diagnostics()), counts.begin(),
                        counts.end());
    following_->declarePlans(components_, standIns, plans_);
  }
  checkColumns();
  for (Diagnostic& column : diagnostics_) column.unit = settings_.units.inProduct(column.unit);
  checkPrograms();
  checkSolvedLevels(deck, schema);
  checkDeviceTasks(deck, plans_);
}

/// Not every solver knows several levels, and none knows every system on them.
void Model::checkSolvedLevels(const Deck& deck, const Schema& schema) const {
  if (settings_.levels.empty()) return;
  std::map<std::string, const LinearSystem*> systems;
  for (const StepProgram& program : programs_) {
    for (const SolveItem* solve : program.solveItems()) systems.emplace(solve->name, &solve->system);
  }
  DeckDiagnostics findings;
  if (!systems.empty() && settings_.solver.options.preconditioner == Preconditioner::Smg)
    findings.error(valuesOf(deck, schema, "solver").where("preconditioner"),
                   "solver.preconditioner = \"smg\" solves on one level; take \"multigrid\", or remove "
                   "[[grid.level]]");
  const auto refuse = [&](const std::string& name, const char* what) {
    findings.error(deck.find("grid.level")->where, name + ": a linear system with " + what +
                                                       " is solved on one level only; remove [[grid.level]]");
  };
  for (const auto& [name, system] : systems) {
    if (system->flow) refuse(name, "a velocity");
    if (system->holes) refuse(name, "solid cells");
  }
  findings.throwIfErrors();
}

/// Reads variables of the components, and may have some of its own.
void Model::declareAnalysis() {
  analysis_ = Analysis(settings_.analysis, labels_, persistent_, settings_.geometry);
  analysis_.declareInitial(plans_[0]);
  analysis_.declareDiagnostics(plans_[2]);
  const bool apart = analysis_.hasStatistics() &&
                     std::any_of(plans_.begin(), plans_.end(), [this](const auto& p) { return isItem(p); });
  for (std::size_t p = 1; p < plans_.size(); ++p) {
    if (p != 2 && !isItem(plans_[p])) analysis_.declareStep(plans_[p]);
  }
  if (apart) {
    const auto runsItems = [this](const StepProgram& program) {
      const std::vector<std::string> names = program.plans();
      return std::any_of(names.begin(), names.end(), [this](const std::string& name) {
        const std::optional<std::size_t> plan = findPlan(plans_, name);
        return plan && isItem(plans_[*plan]);
      });
    };
    std::vector<StepProgram> programs;
    for (const StepProgram& program : programs_)
      programs.push_back(runsItems(program) ? program.after(kStatistics) : program);
    plans_.emplace_back(kStatistics);
    analysis_.declareStep(plans_.back());
    programs_ = std::move(programs);
  }
  for (Diagnostic& column : analysis_.diagnostics()) diagnostics_.push_back(std::move(column));
  findPersistent();
}

/// No two columns have one name, and what is watched is a column.
void Model::checkColumns() const {
  DeckDiagnostics findings;
  std::vector<std::string> names;
  for (const Diagnostic& column : diagnostics_) {
    if (std::find(names.begin(), names.end(), column.name) != names.end())
      findings.error({}, "two columns of the history are named \"" + column.name + "\"; rename an analysis");
    names.push_back(column.name);
  }
  for (const std::string& name : settings_.watched) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    findings.error(settings_.watchedWhere, "history.watch names \"" + name +
                                               "\", which is not a column of the history" +
                                               didYouMeanOneOf(name, names));
  }
  findings.throwIfErrors();
}

void Model::declarePlans() {
  StepPlan steps("step");
  for (const auto& component : components_) {
    component->declareInitial(plans_[0]);
    component->declareStep(steps);
    component->declareDiagnostics(plans_[2]);
    for (Diagnostic& diagnostic : component->diagnostics()) diagnostics_.push_back(std::move(diagnostic));
  }
  if (settings_.subcycles) {
    declareSubcycled(steps);
  } else {
    plans_[1] = steps.selection("step");
  }
  for (const auto& component : components_) {
    for (const std::string& name : component->stepPlans()) {
      if (!findPlan(plans_, name)) plans_.push_back(steps.selection(name));
    }
  }
  declarePrograms(steps);
  declareParts(steps);
  addSolves();
  checkPlanNames(steps);
}

/// The plans and the program of a step in which each level takes steps of its own.
void Model::declareSubcycled(const StepPlan& declaredSteps) {
  std::vector<std::int64_t> ratios;
  for (const RefinedLevel& level : settings_.levels) ratios.push_back(level.ratio);
  subcycled_.emplace(declaredSteps, ratios, labels_);
  plans_.insert(plans_.end(), subcycled_->plans().begin(), subcycled_->plans().end());
  programs_.push_back(subcycled_->program(plans_[1].name()));
}

void Model::checkSubcycled() const {
  if (!settings_.subcycles) return;
  DeckDiagnostics findings;
  const auto refuse = [&](const std::string& text) {
    findings.error(settings_.subcycleWhere, text + "; remove amr.subcycle, so that all levels take the same");
  };
  for (const auto& component : components_) {
    if (!component->supportsSubcycling())
      refuse("component \"" + component->name() + "\" cannot take shorter steps on finer levels");
  }
  if (settings_.time.retries > 0)
    refuse(
        "amr.subcycle and time.retries exclude each other: when a step is refused, finer levels are through "
        "a part of it, and their values before it are gone");
  findings.throwIfErrors();
}

void Model::prepareExpressions(int threads) const {
  for (const Expression& expression : expressions_) expression.prepare(threads);
}

/// What `.in` names has to be a step plan.
void Model::checkPlanNames(const StepPlan& declaredSteps) const {
  std::string names;
  for (std::size_t p = 1; p < plans_.size(); ++p) {
    if (p != 2) names += (names.empty() ? "" : ", ") + plans_[p].name();
  }
  for (const OptionalPart& part : parts_.parts()) names += ", " + part.name;
  std::vector<std::string> faults;
  const auto fault = [&](const TaskDeclaration& task, const std::string& name, const std::string& fix) {
    faults.push_back(Message("a task takes part in a plan that is not a step plan")
                         .line("task  ", task.name, " at ", placeOf(task))
                         .line("says  .in(\"", name, "\")")
                         .line("fix   ", fix)
                         .text());
  };
  for (const TaskDeclaration& task : declaredSteps.tasks()) {
    for (const std::string& name : task.plans) {
      const std::optional<std::size_t> plan = findPlan(plans_, name);
      if (parts_.isPart(name) || (plan && *plan != 0 && *plan != 2)) continue;
      fault(task, name, "name one of: " + names + "; or add it to the component's stepPlans()");
    }
  }
  for (const std::size_t p : {0, 2}) {
    for (const TaskDeclaration& task : plans_[p].tasks()) {
      if (!task.plans.empty()) fault(task, task.plans.front(), "leave it out: it is for declareStep");
    }
  }
  if (!faults.empty()) throw PlanError(std::move(faults));
}

const StepProgram& Model::stepProgram(const StepAt& at) const {
  const StepProgram* chosen = findProgram(programs_, plans_[1].name());
  const std::int64_t step = at.step;
  std::string by;
  for (const auto& component : components_) {
    const std::string name = component->choosePlan(at);
    if (name == plans_[1].name()) continue;
    const StepProgram* program = findProgram(programs_, name);
    if (program == nullptr) {
      throw InternalError("component \"" + component->name() + "\" chooses the plan \"" + name +
                          "\" for step " + std::to_string(step + 1) + "; add it to its stepPlans()");
    }
    if (!by.empty() && program != chosen) {
      throw InternalError("components \"" + by + "\" and \"" + component->name() +
                          "\" choose different plans for step " + std::to_string(step + 1) + ", \"" +
                          chosen->name() + "\" and \"" + name + "\"; let them choose the same");
    }
    by = component->name();
    chosen = program;
  }
  const PartSet parts = parts_.due(at);
  if (parts.empty()) return *chosen;
  if (by.empty()) return usualWith(parts);
  throw InternalError("component \"" + by + "\" chooses the plan \"" + chosen->name() + "\" for step " +
                      std::to_string(step + 1) + ", in which the part \"" + parts.front() +
                      "\" is due; let choosePlan() give \"step\" then, or make its plan a part (stepParts)");
}

double Model::stepsOfLevel(LevelId level) const {
  return subcycled_ ? subcycled_->steps()[static_cast<std::size_t>(level)] : 1.0;
}

std::vector<double> Model::stepsOfLevels() const {
  std::vector<double> steps;
  for (std::size_t level = 0; level <= settings_.levels.size(); ++level)
    steps.push_back(stepsOfLevel(static_cast<LevelId>(level)));
  return steps;
}

const StepProgram& Model::usualWith(const PartSet& parts) const {
  return *findProgram(programs_,
                      StepParts::stepName(plans_[1].name(), StepParts::without(parts, usualParts_)));
}

/// A program for each set of parts that may come together.
void Model::declareParts(const StepPlan& declaredSteps) {
  parts_ = StepParts(components_);
  std::vector<std::string> faults;
  const std::string usual = plans_[1].name();
  const StepProgram step = *findProgram(programs_, usual);
  for (const OptionalPart& part : parts_.parts()) {
    if (findPlan(plans_, part.name))
      faults.push_back(Message("a part of a step has the name of a plan")
                           .line("part  ", part.name)
                           .line("fix   name it otherwise, or leave it out of stepPlans()")
                           .text());
    if (StepParts::alone(declaredSteps, {part.name}).tasks().empty())
      faults.push_back(
          Message("no task takes part in a part of a step")
              .line("part  ", part.name)
              .line("fix   let tasks say .in(\"", part.name, "\"), or leave it out of stepParts()")
              .text());
  }
  if (!faults.empty()) throw PlanError(std::move(faults));
  if (step.isOnePlan()) usualParts_ = parts_.always();
  if (!usualParts_.empty()) plans_[1] = StepParts::withUsual(declaredSteps, usual, usualParts_, usual);
  for (const PartSet& set : parts_.sets()) {
    const PartSet more = StepParts::without(set, usualParts_);
    if (more.empty()) continue;
    const std::string name = StepParts::stepName(usual, more);
    plans_.push_back(step.isOnePlan() ? StepParts::withUsual(declaredSteps, usual, set, name)
                                      : StepParts::alone(declaredSteps, set));
    programs_.push_back(step.isOnePlan() ? StepProgram(name) : step.after(plans_.back().name()).named(name));
    if (step.isOnePlan()) programs_.back().run(name);
  }
}

std::size_t Model::planNamed(const std::string& name) const { return findPlan(plans_, name).value(); }

/// The plans that declared programs run, and a program for each plan that may be a step by itself.
void Model::declarePrograms(const StepPlan& declaredSteps) {
  std::vector<std::string> faults;
  std::map<std::string, std::string> declaredBy;
  for (const auto& component : components_) {
    for (StepProgram& program : component->stepPrograms()) {
      const auto [by, isFirst] = declaredBy.emplace(program.name(), component->name());
      if (!isFirst && by->second != component->name()) {
        throw DeckError(Message("components \"" + by->second + "\" and \"" + component->name() +
                                "\" both take steps of several parts, which cannot be combined")
                            .line("fix  run them in decks of their own (simulation.components)")
                            .text());
      }
      if (findProgram(programs_, program.name()) != nullptr) {
        faults.push_back(Message("two step programs have the same name")
                             .line("program    ", program.name())
                             .line("component  ", component->name(), " declares the second one")
                             .line("fix        let one component declare it, with the plans of both")
                             .text());
        continue;
      }
      for (const std::string& name : program.plans()) {
        if (!findPlan(plans_, name)) plans_.push_back(declaredSteps.selection(name));
      }
      programs_.push_back(std::move(program));
    }
  }
  if (!faults.empty()) throw PlanError(std::move(faults));
  for (std::size_t p = 1; p < plans_.size(); ++p) {
    if (p == 2 || findProgram(programs_, plans_[p].name()) != nullptr) continue;
    programs_.emplace_back(plans_[p].name());
    programs_.back().run(plans_[p].name());
  }
  // The tasks of other plans of a program called "step" are none of a plan that nobody runs.
  const StepProgram& usual = *findProgram(programs_, plans_[1].name());
  if (!usual.isOnePlan() && !isItem(plans_[1])) plans_[1] = StepPlan(plans_[1].name());
}

/// Whether a program runs the plan as one of several items.
bool Model::isItem(const StepPlan& plan) const {
  return std::any_of(programs_.begin(), programs_.end(), [&](const StepProgram& program) {
    const std::vector<std::string> names = program.plans();
    return !program.isOnePlan() && std::find(names.begin(), names.end(), plan.name()) != names.end();
  });
}

/// Columns of the history for each solve, and memory for what it looks at.
void Model::addSolves() {
  std::set<std::string> names;
  std::set<LabelId> looksAt;  // programs with parts have the calls of the usual one
  for (const StepProgram& program : programs_) {
    const std::vector<LabelId> labels = program.labelsOfCalls();
    looksAt.insert(labels.begin(), labels.end());
    for (const std::string& name : program.solves()) {
      if (!names.insert(name).second) continue;
      const auto add = [&](const char* what, SolveNumber number) {
        diagnostics_.push_back(
            {.name = name + what, .reduction = {}, .solve = name, .number = number, .unit = "1"});
      };
      add(".iterations", SolveNumber::Iterations);
      add(".residual", SolveNumber::Residual);
    }
  }
  ofCalls_.assign(looksAt.begin(), looksAt.end());
}

void Model::checkPrograms() {
  if (std::all_of(programs_.begin(), programs_.end(), isPlanAlone)) return;
  ProgramCheck check(
      {plans_, labels_, persistent_, static_cast<int>(settings_.levels.size()) + 1, settings_.time.retries});
  for (const StepProgram& program : programs_) {
    if (!isPlanAlone(program)) check.add(program);
  }
  items_ = check.items();
  if (!subcycled_) return;
  for (std::size_t p = 0; p < plans_.size(); ++p) {
    const std::span<const StandIn> standIns = standInsOf(subcycled_->standIns(), plans_[p].name());
    items_[p].standIns.assign(standIns.begin(), standIns.end());
  }
}

void Model::findPersistent() {
  std::set<LabelId> readAsOld;
  for (const StepPlan& plan : plans_) {
    for (const TaskDeclaration& task : plan.tasks()) {
      for (const ReadDeclaration& read : task.reads) {
        if (read.generation == Generation::Old) readAsOld.insert(read.label);
      }
    }
  }
  for (const StepProgram& program : programs_) readAsOld.merge(program.labelsCalledAsOld());
  persistent_.assign(readAsOld.begin(), readAsOld.end());
}

void Model::describeIdentity(const Deck& deck, const Schema& schema) {
  const BuildInfo build = buildInfo();
  identity_.deckText = resolvedText(deck, schema);
  identity_.codeVersion = "tessera " + build.version + " (" + build.revision + ")";
  runId_ = sha256(identity_.codeVersion + "\n" + valueLines(deck, schema, decidesBits)).substr(0, 32);
  identity_.components = settings_.components;
  for (const LabelId label : persistent_) {
    const LabelInfo& info = labels_.info(label);
    identity_.labels.push_back({info.name, info.type, info.centering});
  }
}

/// The indices of a field file have 32 bits.
void Model::checkFieldFiles() const {
  for (int axis = 0; axis < kAxes; ++axis) {
    double cells = static_cast<double>(settings_.geometry.cells[axis]);
    for (const RefinedLevel& level : settings_.levels) {
      if (settings_.geometry.active(axis)) cells *= static_cast<double>(level.ratio);
    }
    if (cells < 0x1p31) continue;
    DeckDiagnostics findings;
    findings.error(
        settings_.output.fieldsWhere,
        std::string("field files cannot hold 2^31 or more cells along an axis, and the finest level "
                    "would have that many along ") +
            "xyz"[axis] + "; use fewer cells or levels, or write none: output.fields = []");
    findings.throwIfErrors();
  }
}

std::vector<LabelId> Model::outputLabels() const {
  if (!settings_.output.fields || !settings_.output.fields->empty()) checkFieldFiles();
  if (!settings_.output.fields) return persistent_;
  std::vector<std::string> names;
  for (const LabelId label : persistent_) names.push_back(labels_.info(label).name);
  std::vector<LabelId> chosen;
  DeckDiagnostics findings;
  for (const std::string& name : *settings_.output.fields) {
    const LabelId id = labels_.idOf(name);
    if (std::find(chosen.begin(), chosen.end(), id) != chosen.end()) {
      findings.error(settings_.output.fieldsWhere,
                     "output.fields names \"" + name + "\" twice; remove one of them");
    } else if (std::find(persistent_.begin(), persistent_.end(), id) != persistent_.end()) {
      chosen.push_back(id);
    } else {
      findings.error(settings_.output.fieldsWhere, "output.fields names \"" + name +
                                                       "\", which is not a variable of this run" +
                                                       didYouMeanOneOf(name, names));
    }
  }
  findings.throwIfErrors();
  return chosen;
}

CompiledGraphs Model::compile(const OwnedMesh& mesh, Rank rank, int ranks, std::int64_t tagBound,
                              const StoragePolicy& storage) const {
  std::vector<const StepPlan*> plans;
  for (const StepPlan& plan : plans_) plans.push_back(&plan);
  CompileInput input{mesh.hierarchy, &labels_, &mesh.owners,  rank,
                     ranks,          tagBound, storage.reuse, persistent_};
  input.kept.insert(input.kept.end(), ofCalls_.begin(), ofCalls_.end());
  input.sharing = storage.sharing;
  input.devices = storage.devices;
  input.scratch = storage.scratch;
  input.items = items_;
  if (subcycled_) input.factors = {{stableDt_.id, subcycled_->steps()}};
  return compileGraphs(plans, input);
}

}  // namespace tessera
