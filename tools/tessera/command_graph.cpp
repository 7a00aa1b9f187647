#include <algorithm>
#include <chrono>
#include <iostream>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "scheduler/placement.hpp"
#include "taskgraph/placement/placement_summary.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"
#include "tools/tessera/commands.hpp"
#include "tools/tessera/graph/program_summary.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

std::size_t positionOf(const CompiledGraphs& graphs, const std::string& plan) {
  std::string names;
  for (std::size_t p = 0; p < graphs.plans.size(); ++p) {
    const std::string& name = graphs.plans[p].plan->name();
    if (name == plan) return p;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw UsageError("this deck has no plan \"" + plan + "\"; give --plan one of: " + names);
}

/// As many devices as the command line names, used as the deck says.
DeviceOptions devicesAsked(const GraphRequest& request, const Model& model) {
  DeviceOptions options;
  options.kind = request.devices.kind;
  if (!request.devices.numbers.empty()) options.numbers = request.devices.numbers;
  return model.settings().devices.over(options);
}

PlacementSummary placesOf(const DeviceOptions& options, const CompiledGraphs& graphs, std::size_t plan) {
  const auto devices = static_cast<int>(options.numbers.size());
  const PatchPlaces patches = patchPlaces(graphs, devices);
  const PlacedGraph placed = placeGraph(graphs, plan, makePlacement(options, patches), patches.devices);
  return summarise(graphs, plan, placed, devices);
}

Json jsonOfPlaces(const PlacementSummary& summary, const LabelTable& labels) {
  Json nodes = Json::array();
  for (const PlacedNodes& block : summary.blocks) {
    nodes.push_back({{"kind", nameOf(block.kind)},
                     {"name", block.name},
                     {"on_host", block.onHost},
                     {"on_devices", block.onDevices}});
  }
  Json copies = Json::array();
  for (const PlannedCopy& copy : summary.copies) {
    copies.push_back({{"variable", labels.info(copy.label).name},
                      {"device", copy.device},
                      {"to_host", copy.toHost},
                      {"patches", copy.values},
                      {"bytes", copy.bytes}});
  }
  const PlacedEdges& edges = summary.edges;
  return {{"devices", summary.devices},
          {"nodes", nodes},
          {"copies", copies},
          {"packed_bytes_on_host", summary.packedOnHost},
          {"packed_bytes", summary.packedBytes},
          {"edges",
           {{"on_host", edges.onHost},
            {"host_to_device", edges.hostToDevice},
            {"device_to_host", edges.deviceToHost},
            {"on_device", edges.onDevice},
            {"between_devices", edges.betweenDevices}}}};
}

Json jsonOfProgram(const std::string& name, const std::vector<ProgramStep>& steps) {
  Json items = Json::array();
  for (const ProgramStep& step : steps) {
    Json levels = Json::array();
    for (const SolvedLevel& level : step.solved) {
      levels.push_back({{"level", level.level},
                        {"cells", level.cells},
                        {"boxes", level.boxes},
                        {"neighbours", level.neighbours}});
    }
    items.push_back({{"item", step.text}, {"depth", step.depth}});
    if (!levels.empty()) items.back()["solves"] = levels;
  }
  return {{"name", name}, {"items", items}};
}

/// A program of several items of which the plan is one, or which has its name; empty: there is none.
const StepProgram* programWith(const Model& model, const std::string& plan) {
  for (const StepProgram& program : model.programs()) {
    const std::vector<std::string> plans = program.plans();
    const bool has = std::find(plans.begin(), plans.end(), plan) != plans.end();
    if (!program.isOnePlan() && (has || program.name() == plan)) return &program;
  }
  return nullptr;
}

/// What there is to say beside the graph of a plan.
struct GraphExtras {
  const DeviceOptions* devices = nullptr;  ///< where its nodes would run
  const StepProgram* program = nullptr;    ///< that runs it
  const OwnedMesh& mesh;
};

/// The graph, and where its nodes would run where devices are asked for.
std::string textOfGraph(const GraphRequest& request, const CompiledGraphs& graphs, std::size_t plan,
                        const GraphDumpOptions& options, const GraphExtras& extras) {
  std::string text = dumpGraph(graphs, plan, request.format, options);
  const bool isText = request.format == GraphFormat::Text;
  if (!isText && request.format != GraphFormat::Json) return text;
  Json json = isText ? Json() : Json::parse(text);
  if (extras.program != nullptr) {
    const auto steps = summarise(*extras.program, *graphs.labels, extras.mesh, request.rank);
    text += asText(extras.program->name(), steps);
    json["program"] = jsonOfProgram(extras.program->name(), steps);
  }
  if (extras.devices != nullptr) {
    const PlacementSummary places = placesOf(*extras.devices, graphs, plan);
    text += asText(places, *graphs.labels);
    json["places"] = jsonOfPlaces(places, *graphs.labels);
  }
  return isText ? text : json.dump(1) + "\n";
}

}  // namespace

int graphCommand(const GraphRequest& request, const ComponentRegistry& registry) {
  if (request.rank >= request.ranks) {
    throw UsageError("there is no rank " + std::to_string(request.rank) + " among " +
                     std::to_string(request.ranks) + "; ranks are counted from 0, so give --rank " +
                     std::to_string(request.ranks - 1) + " or less");
  }
  if (request.unfolded && request.format == GraphFormat::Text) {
    throw UsageError("--unfolded is too long to read; add --format json, dot or graphml");
  }
  const bool places = request.devices.kind != DeviceKind::None;
  if (places && request.format != GraphFormat::Text && request.format != GraphFormat::Json) {
    throw UsageError("places on devices are shown as text or JSON; leave --format or --device out");
  }
  Deck deck = Deck::fromFile(request.deck);
  for (const std::string& assignment : request.overrides) deck.set(assignment);
  const DeckDiagnostics findings = checkDeck(deck, registry);
  findings.throwIfErrors();
  if (!findings.empty()) std::cerr << findings.text() << std::endl;

  const Model model(deck, registry);
  const auto start = std::chrono::steady_clock::now();
  const DeviceOptions devices = devicesAsked(request, model);
  const StoragePolicy storage = places ? withDevices({}, devices) : StoragePolicy{};
  const OwnedMesh mesh = request.mesh.empty()
                             ? model.meshOfDeck(request.ranks)
                             : model.meshOf(CheckpointReader::open(request.mesh), request.ranks);
  const CompiledGraphs graphs = model.compile(mesh, request.rank, request.ranks, kTagBound, storage);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::size_t plan = positionOf(graphs, request.plan);
  std::cout << textOfGraph(
                   request, graphs, plan,
                   {request.ranks, request.unfolded, spent.count(), usage.ru_maxrss * std::int64_t{1024}},
                   {places ? &devices : nullptr, programWith(model, request.plan), mesh})
            << std::flush;
  return 0;
}

}  // namespace tessera
