#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "taskgraph/storage/stored_windows.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

/// What one rank has to hold and to do in a step.
struct RankPlan {
  std::int64_t patches = 0;
  std::int64_t cells = 0;
  MemoryPlan memory;
  StoredWindows windows;
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
};

/// What the proof found, by the name of the plan.
using RacesOfPlans = std::vector<std::pair<std::string, RaceReport>>;

RankPlan planOf(const CompiledGraphs& graphs) {
  RankPlan plan;
  for (const Range& level : graphs.localsOfLevel) plan.patches += level.size();
  for (const PatchId id : graphs.ownPatches) {
    if (id >= 0) plan.cells += graphs.hierarchy->patch(id).cells.volume();
  }
  plan.memory = memoryPlanOf(graphs);
  plan.windows = sumOf(storedWindows(graphs));
  const CompiledGraph& step = graphs.plans[static_cast<std::size_t>(PlanId::Step)];
  for (const NodeBlock& block : step.blocks) plan.tasks += block.kind == NodeKind::Task ? block.count : 0;
  plan.messages = static_cast<std::int64_t>(step.sends.size());
  for (const MessagePlan& message : step.sends) plan.messageBytes += message.bytes;
  return plan;
}

void printMesh(const Hierarchy& hierarchy) {
  std::cout << "mesh\n";
  for (const Level& level : hierarchy.levels()) {
    std::cout << "  level " << level.number() << "  " << level.cellCount() << " cells in "
              << level.patches().size() << " patches, spacing " << level.spacing()[0] << " x "
              << level.spacing()[1] << " x " << level.spacing()[2] << '\n';
  }
}

void printVariables(const Model& model) {
  std::cout << "variables\n";
  const auto& kept = model.persistent();
  for (LabelId id = 0; id < model.labels().count(); ++id) {
    const LabelInfo& info = model.labels().info(id);
    const bool lives = std::find(kept.begin(), kept.end(), id) != kept.end();
    std::cout << "  " << info.name << "  " << asText(info.type) << " per " << asText(info.centering)
              << (lives ? "" : ", within a step") << '\n';
  }
}

void printTasks(const Model& model, const CompiledGraphs& graphs) {
  for (const CompiledGraph& graph : graphs.plans) {
    std::map<NodeKind, std::int64_t> counts;
    for (const NodeBlock& block : graph.blocks) counts[block.kind] += block.count;
    std::cout << "plan " << graph.plan->name() << " (rank 0: " << counts[NodeKind::Task]
              << " task instances, " << counts[NodeKind::Fill] << " halo fills, " << counts[NodeKind::Send]
              << " messages out, " << counts[NodeKind::Receive] << " in, " << counts[NodeKind::Reduce]
              << " reductions, " << graph.edgeCount() << " edges)\n";
    for (const TaskDeclaration& task : graph.plan->tasks()) {
      std::cout << "  " << task.name;
      for (const ReadDeclaration& read : task.reads) {
        std::cout << "  reads " << asText(read, model.labels());
      }
      for (const WriteDeclaration& write : task.writes) {
        std::cout << (write.modifies ? "  modifies " : "  writes ") << model.labels().info(write.label).name;
      }
      for (const ContributionDeclaration& c : task.contributions) {
        std::cout << "  contributes " << model.labels().reductionName(c.reduction);
      }
      std::cout << '\n';
    }
  }
}

void printRanks(const std::vector<RankPlan>& plans) {
  std::cout << "ranks\n";
  RankPlan most;
  RankPlan all;
  std::int64_t bytes = 0;
  std::int64_t mostBytes = 0;
  std::int64_t mostWithoutReuse = 0;
  double worst = 1.0;
  for (const RankPlan& plan : plans) {
    bytes += plan.memory.total();
    mostBytes = std::max(mostBytes, plan.memory.total());
    mostWithoutReuse = std::max(mostWithoutReuse, plan.memory.totalWithoutReuse());
    most.cells = std::max(most.cells, plan.cells);
    worst = std::max(worst, plan.windows.overhead());
    all.windows.bytes += plan.windows.bytes;
    all.windows.distinctBytes += plan.windows.distinctBytes;
    all.tasks += plan.tasks;
    all.messages += plan.messages;
    all.messageBytes += plan.messageBytes;
    all.cells += plan.cells;
  }
  const double mean = static_cast<double>(all.cells) / static_cast<double>(plans.size());
  std::cout << "  " << plans.size() << " rank(s), largest " << most.cells << " cells ("
            << static_cast<double>(most.cells) / mean << " of the mean)\n"
            << "  memory for fields: " << bytes << " bytes in total, " << mostBytes
            << " on the largest rank (" << mostWithoutReuse << " without reuse)\n"
            << "  windows of fields: " << all.windows.overhead() << " x their distinct bytes, at most "
            << worst << " on a rank\n"
            << "  a step: " << all.tasks << " task instances, " << all.messages << " messages of "
            << all.messageBytes << " bytes\n";
}

/// False where something was found.
bool printRaces(const RacesOfPlans& races) {
  bool clean = true;
  for (const auto& [name, report] : races) {
    clean = clean && report.clean();
    if (report.clean()) {
      std::cout << "races in plan " << name << ": none found in " << report.conflicts
                << " conflicting pairs\n";
      continue;
    }
    std::cout << "races in plan " << name << ": " << report.faultCount << " fault(s)\n";
    for (const std::string& fault : report.faults) std::cout << fault << '\n';
  }
  return clean;
}

Json jsonOfTask(const TaskDeclaration& task, const LabelTable& labels) {
  Json json{{"task", task.name},
            {"reads", Json::array()},
            {"writes", Json::array()},
            {"modifies", Json::array()},
            {"contributes", Json::array()}};
  for (const ReadDeclaration& read : task.reads) json["reads"].push_back(asText(read, labels));
  for (const WriteDeclaration& write : task.writes)
    json[write.modifies ? "modifies" : "writes"].push_back(labels.info(write.label).name);
  for (const ContributionDeclaration& c : task.contributions)
    json["contributes"].push_back(labels.reductionName(c.reduction));
  return json;
}

/// Errors and warnings with their places.
Json jsonOf(const DeckDiagnostics& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings.all()) {
    Json one{{"severity", finding.severity == Finding::Severity::Error ? "error" : "warning"},
             {"file", finding.where.file()},
             {"line", finding.where.line()},
             {"column", finding.where.column()},
             {"text", finding.text}};
    json.push_back(std::move(one));
  }
  return json;
}

Json jsonOfMesh(const Hierarchy& hierarchy) {
  Json json = Json::array();
  for (const Level& level : hierarchy.levels()) {
    json.push_back({{"level", level.number()},
                    {"cells", level.cellCount()},
                    {"patches", level.patches().size()},
                    {"spacing", {level.spacing()[0], level.spacing()[1], level.spacing()[2]}}});
  }
  return json;
}

Json jsonOfVariables(const Model& model) {
  Json json = Json::array();
  const auto& kept = model.persistent();
  for (LabelId id = 0; id < model.labels().count(); ++id) {
    const LabelInfo& info = model.labels().info(id);
    Json components = Json::array();
    for (const ComponentInfo& component : info.components) components.push_back(component.name);
    json.push_back({{"name", info.name},
                    {"type", asText(info.type)},
                    {"centering", asText(info.centering)},
                    {"unit", info.unit},
                    {"components", components},
                    {"lives", std::find(kept.begin(), kept.end(), id) != kept.end()}});
  }
  return json;
}

/// Plans with their tasks, as one rank sees them.
Json jsonOfPlans(const Model& model, const CompiledGraphs& graphs) {
  Json json = Json::array();
  for (const CompiledGraph& graph : graphs.plans) {
    std::map<NodeKind, std::int64_t> counts;
    for (const NodeBlock& block : graph.blocks) counts[block.kind] += block.count;
    Json plan{{"plan", graph.plan->name()},
              {"task_instances", counts[NodeKind::Task]},
              {"halo_fills", counts[NodeKind::Fill]},
              {"messages_out", counts[NodeKind::Send]},
              {"messages_in", counts[NodeKind::Receive]},
              {"reductions", counts[NodeKind::Reduce]},
              {"edges", graph.edgeCount()},
              {"tasks", Json::array()}};
    for (const TaskDeclaration& task : graph.plan->tasks())
      plan["tasks"].push_back(jsonOfTask(task, model.labels()));
    json.push_back(std::move(plan));
  }
  return json;
}

Json jsonOf(const std::vector<RankPlan>& plans) {
  Json json = Json::array();
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const RankPlan& plan = plans[rank];
    json.push_back({{"rank", rank},
                    {"patches", plan.patches},
                    {"cells", plan.cells},
                    {"field_bytes", plan.memory.total()},
                    {"field_bytes_without_reuse", plan.memory.totalWithoutReuse()},
                    {"window_overhead", plan.windows.overhead()},
                    {"task_instances", plan.tasks},
                    {"messages", plan.messages},
                    {"message_bytes", plan.messageBytes}});
  }
  return json;
}

Json jsonOf(const RacesOfPlans& races) {
  Json json = Json::array();
  for (const auto& [plan, report] : races) {
    json.push_back({{"plan", plan},
                    {"conflicting_pairs", report.conflicts},
                    {"fault_count", report.faultCount},
                    {"faults", report.faults}});
  }
  return json;
}

/// All that is looked at in depth.
struct DeepReport {
  OwnedMesh mesh;
  std::vector<RankPlan> ranks;
  std::int64_t nodes = 0;  ///< on all ranks
  std::optional<RacesOfPlans> races;
};

/// `show` gets the graphs of rank 0.
DeepReport lookDeep(const Model& model, int ranks,
                    const std::function<void(const DeepReport&, const CompiledGraphs&)>& show) {
  DeepReport report{model.meshOfDeck(ranks), {}, 0, {}};
  std::vector<CompiledGraphs> graphs;  // of all ranks, as long as they are few enough to look for races
  for (int rank = 0; rank < ranks; ++rank) {
    CompiledGraphs compiled = model.compile(report.mesh, rank, ranks, kTagBound);
    if (rank == 0) show(report, compiled);
    report.ranks.push_back(planOf(compiled));
    std::int64_t most = 0;
    for (const CompiledGraph& graph : compiled.plans) most = std::max(most, graph.nodeCount());
    report.nodes += most;
    graphs.push_back(std::move(compiled));
    if (report.nodes > kRaceCheckNodes) graphs.clear();
  }
  if (report.nodes > kRaceCheckNodes) return report;
  report.races.emplace();
  for (std::size_t plan = 0; plan < graphs.front().plans.size(); ++plan)
    report.races->emplace_back(graphs.front().plans[plan].plan->name(), checkRaces(graphs, plan));
  return report;
}

/// False where the compiled graphs are at fault.
bool printDeep(const Model& model, int ranks) {
  const DeepReport report = lookDeep(model, ranks, [&](const DeepReport& begun, const CompiledGraphs& first) {
    printMesh(*begun.mesh.hierarchy);
    printVariables(model);
    printTasks(model, first);
  });
  printRanks(report.ranks);
  if (report.races) return printRaces(*report.races);
  std::cout << "races: not checked, " << report.nodes << " nodes on all ranks are more than "
            << kRaceCheckNodes << '\n';
  return true;
}

/// False where the compiled graphs are at fault.
bool addDeep(const Model& model, int ranks, Json& json) {
  const DeepReport report = lookDeep(model, ranks, [&](const DeepReport& begun, const CompiledGraphs& first) {
    json["mesh"] = jsonOfMesh(*begun.mesh.hierarchy);
    json["variables"] = jsonOfVariables(model);
    json["plans"] = jsonOfPlans(model, first);
  });
  json["ranks"] = jsonOf(report.ranks);
  json["races"] = report.races ? jsonOf(*report.races) : Json(nullptr);
  if (!report.races) return true;
  return std::all_of(report.races->begin(), report.races->end(),
                     [](const auto& plan) { return plan.second.clean(); });
}

/// What the model says of a deck that the schema takes; the errors that it finds are the end of the command.
bool lookAtModel(const Deck& deck, const CheckRequest& request, const ComponentRegistry& registry,
                 Json* json) {
  Model::check(deck, registry);
  if (!request.deep) return true;
  const Model model(deck, registry);
  model.outputLabels();
  return json == nullptr ? printDeep(model, request.ranks) : addDeep(model, request.ranks, *json);
}

int endOf(const Deck& deck, bool whole) {
  if (whole) return 0;
  std::cerr << deck.name() << ": the compiled task graph is at fault; please report it with the deck"
            << std::endl;
  return static_cast<int>(ErrorKind::Internal);
}

void print(const Json& json) {
  std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

int checkAsJson(const Deck& deck, const CheckRequest& request, const ComponentRegistry& registry,
                const DeckDiagnostics& findings) {
  Json json{{"deck", deck.name()}, {"ok", false}, {"findings", jsonOf(findings)}};
  if (findings.hasErrors()) {
    print(json);
    return static_cast<int>(ErrorKind::Usage);
  }
  try {
    const bool whole = lookAtModel(deck, request, registry, &json);
    json["ok"] = whole;
    print(json);
    return endOf(deck, whole);
  } catch (const DeckError& error) {
    json["error"] = error.message();
    print(json);
    return error.exitCode();
  }
}

}  // namespace

int checkCommand(const CheckRequest& request, const ComponentRegistry& registry) {
  Deck deck = Deck::fromFile(request.deck);
  for (const std::string& assignment : request.overrides) deck.set(assignment);
  const DeckDiagnostics findings = checkDeck(deck, registry);
  if (request.format == TableFormat::Json) return checkAsJson(deck, request, registry, findings);
  if (findings.hasErrors()) {
    std::cerr << findings.text() << '\n' << findings.errors() << " error(s)" << std::endl;
    return static_cast<int>(ErrorKind::Usage);
  }
  if (!findings.empty()) std::cerr << findings.text() << std::endl;
  const bool whole = lookAtModel(deck, request, registry, nullptr);
  if (whole) std::cout << deck.name() << ": ok" << std::endl;
  return endOf(deck, whole);
}

}  // namespace tessera
