#include "tools/tessera/model.hpp"

#include <iomanip>
#include <set>
#include <sstream>

#include "core/build_info.hpp"
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
  settings_ = settingsOf(deck, schema);
  hierarchy_ = refinedHierarchy(settings_.geometry, settings_.division, settings_.levels);
  stableDt_ = labels_.reduction("stable_dt");

  ComponentSetup setup{labels_, hierarchy_->geometry(), stableDt_};
  for (const std::string& name : settings_.components) {
    std::unique_ptr<Component> component = registry.make(name);
    component->configure(valuesOf(deck, schema, name), setup);
    components_.push_back(std::move(component));
  }
  for (const auto& component : components_) {
    component->declareInitial(plans_[0]);
    component->declareStep(plans_[1]);
    component->declareDiagnostics(plans_[2]);
    for (Diagnostic& diagnostic : component->diagnostics()) diagnostics_.push_back(std::move(diagnostic));
  }
  findPersistent();
  describeIdentity(deck, schema);
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
  std::vector<LabelId> chosen;
  for (const std::string& name : *settings_.output.fields) {
    const LabelId id = labels_.idOf(name);
    bool known = false;
    std::string names;
    for (const LabelId label : persistent_) {
      known = known || label == id;
      names += (names.empty() ? "" : ", ") + labels_.info(label).name;
    }
    if (!known) {
      throw DeckError(Message("[output] fields names \"" + name + "\", which is no variable of this run")
                          .line("fix  name some of: ", names)
                          .text());
    }
    chosen.push_back(id);
  }
  return chosen;
}

CompiledGraphs Model::compile(Rank rank, int ranks, std::int64_t tagBound) const {
  const RankMap owners = distribute(*hierarchy_, ranks);
  const StepPlan* plans[] = {&plans_[0], &plans_[1], &plans_[2]};
  return compileGraphs(plans, {hierarchy_, &labels_, &owners, rank, tagBound});
}

}  // namespace tessera
