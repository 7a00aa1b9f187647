#include <algorithm>
#include <iostream>
#include <map>

#include "core/text/error.hpp"
#include "taskgraph/proof/race_check.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "taskgraph/storage/stored_windows.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {
namespace {

/// What one rank has to hold and to do.
struct RankPlan {
  std::int64_t patches = 0;
  std::int64_t cells = 0;
  MemoryPlan memory;
  StoredWindows windows;
  std::int64_t tasks = 0;
  std::int64_t messages = 0;
  std::int64_t messageBytes = 0;
};

RankPlan planOf(const Model& model, const CompiledGraphs& graphs) {
  RankPlan plan;
  for (const Range& level : graphs.localsOfLevel) plan.patches += level.size();
  for (const PatchId id : graphs.ownPatches) {
    if (id >= 0) plan.cells += model.hierarchy()->patch(id).cells.volume();
  }
  plan.memory = memoryPlanOf(graphs);
  plan.windows = sumOf(storedWindows(graphs));
  const CompiledGraph& step = graphs.plans[static_cast<std::size_t>(PlanId::Step)];
  for (const NodeBlock& block : step.blocks) plan.tasks += block.kind == NodeKind::Task ? block.count : 0;
  plan.messages = static_cast<std::int64_t>(step.sends.size());
  for (const MessagePlan& message : step.sends) plan.messageBytes += message.bytes;
  return plan;
}

void printMesh(const Model& model) {
  const Hierarchy& hierarchy = *model.hierarchy();
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
bool printRaces(const std::vector<CompiledGraphs>& graphs) {
  bool clean = true;
  for (std::size_t plan = 0; plan < graphs.front().plans.size(); ++plan) {
    const std::string& name = graphs.front().plans[plan].plan->name();
    const RaceReport report = checkRaces(graphs, plan);
    if (report.clean()) {
      std::cout << "races in plan " << name << ": none found in " << report.conflicts
                << " conflicting pairs\n";
      continue;
    }
    clean = false;
    std::cout << "races in plan " << name << ": " << report.faultCount << " fault(s)\n";
    for (const std::string& fault : report.faults) std::cout << fault << '\n';
  }
  return clean;
}

/// False where the compiled graphs are at fault.
bool printDeep(const Deck& deck, int ranks, const ComponentRegistry& registry) {
  const Model model(deck, registry);
  model.outputLabels();
  printMesh(model);
  printVariables(model);
  std::vector<RankPlan> plans;
  std::vector<CompiledGraphs> graphs;  // of all ranks, as long as they are few enough to look for races
  std::int64_t nodes = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    CompiledGraphs compiled = model.compile(rank, ranks, kTagBound);
    if (rank == 0) printTasks(model, compiled);
    plans.push_back(planOf(model, compiled));
    std::int64_t most = 0;
    for (const CompiledGraph& graph : compiled.plans) most = std::max(most, graph.nodeCount());
    nodes += most;
    graphs.push_back(std::move(compiled));
    if (nodes > kRaceCheckNodes) graphs.clear();
  }
  printRanks(plans);
  if (nodes <= kRaceCheckNodes) return printRaces(graphs);
  std::cout << "races: not checked, " << nodes << " nodes on all ranks are more than " << kRaceCheckNodes
            << '\n';
  return true;
}

}  // namespace

int checkCommand(const CheckRequest& request, const ComponentRegistry& registry) {
  Deck deck = Deck::fromFile(request.deck);
  for (const std::string& assignment : request.overrides) deck.set(assignment);
  const DeckDiagnostics findings = checkDeck(deck, registry);
  if (findings.hasErrors()) {
    std::cerr << findings.text() << '\n' << findings.errors() << " error(s)" << std::endl;
    return static_cast<int>(ErrorKind::Usage);
  }
  if (!findings.empty()) std::cerr << findings.text() << std::endl;
  Model::check(deck, registry);
  if (request.deep && !printDeep(deck, request.ranks, registry)) {
    std::cerr << deck.name() << ": the compiled task graph is at fault; please report it with the deck"
              << std::endl;
    return static_cast<int>(ErrorKind::Internal);
  }
  std::cout << deck.name() << ": ok" << std::endl;
  return 0;
}

}  // namespace tessera
