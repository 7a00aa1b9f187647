#include "tools/ensemble/ensemble_plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/deck/deck_diagnostics.hpp"
#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera::ensemble {
namespace {

constexpr std::int64_t kMostTasks = 100'000'000;

/// Reads a deck and collects what is wrong with it.
class PlanReader {
 public:
  EnsemblePlan read(const Deck& deck);

 private:
  void readEnsemble(const DeckNode& table);
  void readStage(const DeckNode& table);
  void readAfter(const DeckNode& list, Stage& stage);
  void readValues(const DeckNode& table, Stage& stage, std::vector<const DeckNode*>& given);
  void checkNumber(const DeckNode& node, const std::string& parameter, double value);
  void unknownKey(const DeckNode& node, const std::vector<std::string>& known) {
    findings_.error(node.keyWhere, "unknown key '" + node.key + "'" + didYouMeanOneOf(node.key, known));
  }

  EnsemblePlan plan_;
  DeckDiagnostics findings_;
};

bool isNumber(const DeckNode& node) { return node.kind == DeckKind::Integer || node.kind == DeckKind::Real; }
double numberOf(const DeckNode& node) {
  return node.kind == DeckKind::Integer ? static_cast<double>(node.integer()) : node.real();
}

EnsemblePlan PlanReader::read(const Deck& deck) {
  const DeckNode* stages = nullptr;
  for (const DeckNode& node : deck.root().children) {
    if (node.key == "ensemble" && node.kind == DeckKind::Table) {
      readEnsemble(node);
    } else if (node.key == "stages" && node.kind == DeckKind::Array) {
      stages = &node;
    } else {
      unknownKey(node, {"ensemble", "stages", "replica_exchange"});
    }
  }
  if (stages == nullptr || stages->children.empty()) {
    findings_.error(deck.root().where,
                    "an ensemble needs at least one [[stages]], or a table [replica_exchange]");
  } else {
    for (const DeckNode& stage : stages->children) readStage(stage);
  }
  findings_.throwIfErrors();
  return plan_;
}

void PlanReader::readEnsemble(const DeckNode& table) {
  for (const DeckNode& node : table.children) {
    if (node.key == "retries" && node.kind == DeckKind::Integer && node.integer() >= 0 &&
        node.integer() <= 100) {
      plan_.retries = node.integer();
    } else if (node.key == "retries") {
      findings_.error(node.where, "retries is a whole number from 0 to 100");
    } else if (node.key != "title") {
      unknownKey(node, {"title", "retries"});
    }
  }
}

void PlanReader::readStage(const DeckNode& table) {
  Stage stage;
  std::vector<const DeckNode*> given;
  std::vector<std::string> names;
  for (const EnsembleKind& kind : ensembleKinds()) names.push_back(kind.name);
  const DeckNode* name = table.child("name");
  const DeckNode* kind = table.child("kind");
  if (name != nullptr && name->kind == DeckKind::Text) stage.name = name->text();
  const bool plain = std::all_of(stage.name.begin(), stage.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (stage.name.empty() || !plain || stage.name.size() > 100) {
    findings_.error(
        table.where,
        "a stage needs a name of letters, digits, '_' and '-': its results get a file of that name");
  }
  for (const Stage& other : plan_.stages) {
    if (other.name == stage.name)
      findings_.error(table.where, "two stages have the name '" + stage.name + "'");
  }
  for (const EnsembleKind& each : ensembleKinds()) {
    if (kind != nullptr && kind->kind == DeckKind::Text && kind->text() == each.name) stage.kind = &each;
  }
  if (stage.kind == nullptr) {
    const std::string written = kind != nullptr && kind->kind == DeckKind::Text ? kind->text() : "";
    findings_.error(kind != nullptr ? kind->where : table.where,
                    "a stage needs the kind of its tasks" + didYouMeanOneOf(written, names));
    return;
  }
  given.resize(stage.kind->parameters.size(), nullptr);
  stage.choices.resize(stage.kind->parameters.size());
  for (const DeckNode& node : table.children) {
    if (node.key == "after") {
      readAfter(node, stage);
    } else if ((node.key == "values" || node.key == "sweep") && node.kind == DeckKind::Table) {
      readValues(node, stage, given);
    } else if (node.key != "name" && node.key != "kind") {
      unknownKey(node, {"name", "kind", "after", "values", "sweep"});
    }
  }
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n] == nullptr) {
      findings_.error(table.where, "stage '" + stage.name + "' gives no '" + stage.kind->parameters[n] +
                                       "': put a number in its values, or a list in its sweep");
    }
  }
  if (stage.tasks() > kMostTasks) findings_.error(table.where, "a stage has at most 100 million tasks");
  plan_.stages.push_back(std::move(stage));
}

void PlanReader::readAfter(const DeckNode& list, Stage& stage) {
  std::vector<std::string> names;
  for (const Stage& other : plan_.stages) names.push_back(other.name);
  for (const DeckNode& node : list.children) {
    const auto found = std::find(names.begin(), names.end(), node.kind == DeckKind::Text ? node.text() : "");
    if (found == names.end()) {
      findings_.error(node.where, "'after' names stages that stand before this one" +
                                      didYouMeanOneOf(node.kind == DeckKind::Text ? node.text() : "", names));
    } else {
      stage.after.push_back(static_cast<std::size_t>(found - names.begin()));
    }
  }
  if (list.kind != DeckKind::Array) findings_.error(list.where, "'after' is a list of names of stages");
}

void PlanReader::readValues(const DeckNode& table, Stage& stage, std::vector<const DeckNode*>& given) {
  const std::vector<std::string>& names = stage.kind->parameters;
  for (const DeckNode& node : table.children) {
    const auto found = std::find(names.begin(), names.end(), node.key);
    if (found == names.end()) {
      unknownKey(node, names);
      continue;
    }
    const auto n = static_cast<std::size_t>(found - names.begin());
    if (given[n] != nullptr)
      findings_.error(node.keyWhere, "'" + node.key + "' is given twice: as a value and in the sweep");
    given[n] = &node;
    const bool swept = table.key == "sweep";
    if (swept != (node.kind == DeckKind::Array) || (swept && node.children.empty())) {
      findings_.error(node.where,
                      swept ? "a sweep needs a list of numbers, at least one" : "a value is one number");
      continue;
    }
    for (const DeckNode& value : swept ? node.children : std::vector<DeckNode>{node}) {
      if (!isNumber(value)) {
        findings_.error(value.where, "'" + node.key + "' is a number");
        continue;
      }
      checkNumber(value, node.key, numberOf(value));
      stage.choices[n].push_back(numberOf(value));
    }
  }
}

/// Counts and seeds are whole numbers that fit their types; a trajectory fits a worker.
void PlanReader::checkNumber(const DeckNode& node, const std::string& parameter, double value) {
  const bool whole = parameter != "dt" && parameter != "box" && parameter != "micros";
  const double most = parameter == "particles" ? 10'000 : parameter == "seed" ? 9e15 : 1e9;
  const double least = parameter == "particles" ? 1 : parameter == "a" || parameter == "b" ? -1e9 : 0;
  if (!(value >= least && value <= most) || (whole && value != std::floor(value))) {
    findings_.error(node.where, "'" + parameter + "' is a" + (whole ? " whole" : "") + " number from " +
                                    std::to_string(static_cast<std::int64_t>(least)) + " to " +
                                    std::to_string(static_cast<std::int64_t>(most)));
  }
}

}  // namespace

std::int64_t Stage::tasks() const {
  double count = 1.0;
  for (const auto& list : choices) count *= static_cast<double>(std::max<std::size_t>(1, list.size()));
  return count > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(count);
}

std::vector<double> Stage::values(std::int64_t index) const {
  std::vector<double> list(choices.size());
  for (std::size_t n = choices.size(); n-- > 0;) {
    const auto size = static_cast<std::int64_t>(choices[n].size());
    list[n] = choices[n][static_cast<std::size_t>(index % size)];
    index /= size;
  }
  return list;
}

EnsemblePlan readPlan(const Deck& deck) { return PlanReader().read(deck); }

}  // namespace tessera::ensemble
