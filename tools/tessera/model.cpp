#include "tools/tessera/model.hpp"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "core/build_info.hpp"
#include "core/findings.hpp"
#include "grid/rank_map.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tools/tessera/core_schema.hpp"

namespace tessera {
namespace {

std::string hexText(std::uint64_t number) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << number;
  return out.str();
}

}  // namespace

Model::Model(const Deck& deck, const ComponentRegistry& registry) {
  const Schema schema = schemaFor(deck, registry);
  declare(deck, schema, registry);
  hierarchy_ = refinedHierarchy(settings_.geometry, settings_.division, settings_.levels);
  describeIdentity(deck, schema);
}

void Model::check(const Deck& deck, const ComponentRegistry& registry) {
  Model model;
  model.declare(deck, schemaFor(deck, registry), registry);
  model.outputLabels();
}

void Model::declare(const Deck& deck, const Schema& schema, const ComponentRegistry& registry) {
  settings_ = settingsOf(deck, schema);
  stableDt_ = labels_.reduction("stable_dt");

  ComponentSetup setup{labels_, settings_.geometry, stableDt_};
  std::string faults;
  for (const std::string& name : settings_.components) {
    std::unique_ptr<Component> component = registry.make(name);
    try {
      component->configure(valuesOf(deck, schema, name), setup);
    } catch (const DeckError& error) {
      faults += (faults.empty() ? "" : "\n") + error.message();
    }
    components_.push_back(std::move(component));
  }
  if (!faults.empty()) throw DeckError(faults);
  for (const auto& component : components_) {
    component->declareInitial(plans_[0]);
    component->declareStep(plans_[1]);
    component->declareDiagnostics(plans_[2]);
    for (Diagnostic& diagnostic : component->diagnostics()) diagnostics_.push_back(std::move(diagnostic));
  }
  findPersistent();
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
  identity_.components = settings_.components;
  for (const LabelId label : persistent_) {
    const LabelInfo& info = labels_.info(label);
    identity_.labels.push_back({info.name, info.type, info.centering});
  }
}

std::vector<LabelId> Model::outputLabels() const {
  if (!settings_.output.fields) return persistent_;
  std::string names;
  for (const LabelId label : persistent_) names += (names.empty() ? "" : ", ") + labels_.info(label).name;
  std::vector<LabelId> chosen;
  Findings findings;
  for (const std::string& name : *settings_.output.fields) {
    const LabelId id = labels_.idOf(name);
    if (std::find(persistent_.begin(), persistent_.end(), id) != persistent_.end()) {
      chosen.push_back(id);
    } else {
      findings.error(
          settings_.output.fieldsWhere,
          "output.fields names \"" + name + "\", which is no variable of this run; known are: " + names);
    }
  }
  findings.throwIfErrors();
  return chosen;
}

CompiledGraphs Model::compile(Rank rank, int ranks, std::int64_t tagBound) const {
  const RankMap owners = distribute(*hierarchy_, ranks);
  const StepPlan* plans[] = {&plans_[0], &plans_[1], &plans_[2]};
  return compileGraphs(plans, {hierarchy_, &labels_, &owners, rank, tagBound});
}

}  // namespace tessera
