#include "tools/simulation/model.hpp"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <set>
#include <sstream>

#include "core/build_info.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/sha256.hpp"
#include "core/text/nearest_name.hpp"
#include "grid/rank_map.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/task_place.hpp"
#include "tools/simulation/deck/core_schema.hpp"

namespace tessera {
namespace {

std::string hexText(std::uint64_t number) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << number;
  return out.str();
}

/// Keys that say how a run is divided, how long it goes on and what it leaves, but change no bit of a state.
bool decidesBits(std::string_view name) {
  for (const std::string_view table : {"checkpoint.", "history.", "analysis.", "device."}) {
    if (name.substr(0, table.size()) == table) return false;
  }
  if (name.substr(0, 7) == "output.") return name == "output.every";  // steps land on its times
  return name != "simulation.title" && name != "time.max_steps" && name != "grid.patches" &&
         name != "grid.patch_size" && name != "grid.level.patch_size";
}

std::optional<std::size_t> findPlan(const std::vector<StepPlan>& plans, const std::string& name) {
  for (std::size_t p = 0; p < plans.size(); ++p) {
    if (plans[p].name() == name) return p;
  }
  return {};
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
  makeMesh(deck, schema);
}

void Model::makeMesh(const Deck& deck, const Schema& schema) {
  hierarchy_ = refinedHierarchy(settings_.geometry, settings_.division, settings_.levels);
  describeIdentity(deck, schema);
}

Model Model::withoutMesh(const Deck& deck, const ComponentRegistry& registry) {
  Model model;
  model.declare(deck, schemaFor(deck, registry), registry);
  return model;
}

void Model::check(const Deck& deck, const ComponentRegistry& registry) {
  const Model model = withoutMesh(deck, registry);
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
  stableDt_ = labels_.reduction("stable_dt");

  ComponentSetup setup{labels_, settings_.geometry, stableDt_};
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
  declarePlans();
  findPersistent();
  declareAnalysis();
  checkDeviceTasks(deck, plans_);
}

/// Reads variables of the components, and may have some of its own.
void Model::declareAnalysis() {
  analysis_ = Analysis(settings_.analysis, labels_, persistent_, settings_.geometry);
  analysis_.declareInitial(plans_[0]);
  analysis_.declareDiagnostics(plans_[2]);
  for (std::size_t p = 1; p < plans_.size(); ++p) {
    if (p != 2) analysis_.declareStep(plans_[p]);
  }
  for (Diagnostic& column : analysis_.diagnostics()) diagnostics_.push_back(std::move(column));
  findPersistent();
  checkColumns();
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
  plans_[1] = steps.selection("step");
  for (const auto& component : components_) {
    for (const std::string& name : component->stepPlans()) {
      if (!findPlan(plans_, name)) plans_.push_back(steps.selection(name));
    }
  }
  checkPlanNames(steps);
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
      if (!plan || *plan == 0 || *plan == 2)
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

std::size_t Model::stepPlan(std::int64_t step) const {
  auto chosen = static_cast<std::size_t>(PlanId::Step);
  std::string by;
  for (const auto& component : components_) {
    const std::string name = component->choosePlan(step);
    if (name == plans_[1].name()) continue;
    const std::optional<std::size_t> plan = findPlan(plans_, name);
    if (!plan || *plan == 0 || *plan == 2) {
      throw InternalError("component \"" + component->name() + "\" chooses the plan \"" + name +
                          "\" for step " + std::to_string(step + 1) + "; add it to its stepPlans()");
    }
    if (!by.empty() && *plan != chosen) {
      throw InternalError("components \"" + by + "\" and \"" + component->name() +
                          "\" choose different plans for step " + std::to_string(step + 1) + ", \"" +
                          plans_[chosen].name() + "\" and \"" + name + "\"; let them choose the same");
    }
    by = component->name();
    chosen = *plan;
  }
  return chosen;
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
  persistent_.assign(readAsOld.begin(), readAsOld.end());
}

void Model::describeIdentity(const Deck& deck, const Schema& schema) {
  const BuildInfo build = buildInfo();
  identity_.gridHash = hexText(hierarchy_->hash());
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

CompiledGraphs Model::compile(Rank rank, int ranks, std::int64_t tagBound,
                              const StoragePolicy& storage) const {
  const RankMap owners = distribute(*hierarchy_, ranks);
  std::vector<const StepPlan*> plans;
  for (const StepPlan& plan : plans_) plans.push_back(&plan);
  CompileInput input{hierarchy_, &labels_, &owners, rank, ranks, tagBound, storage.reuse, persistent_};
  input.sharing = storage.sharing;
  input.devices = storage.devices;
  input.scratch = storage.scratch;
  return compileGraphs(plans, input);
}

}  // namespace tessera
