#include <chrono>
#include <iostream>
#include <sys/resource.h>

#include "core/text/error.hpp"
#include "scheduler/placement.hpp"
#include "taskgraph/placement/placement_summary.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"
#include "tools/tessera/commands.hpp"

namespace tessera {
namespace {

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

std::string placesText(const DeviceOptions& options, const CompiledGraphs& graphs, std::size_t plan) {
  const auto devices = static_cast<int>(options.numbers.size());
  const PatchPlaces patches = patchPlaces(graphs, devices);
  const PlacedGraph placed = placeGraph(graphs, plan, makePlacement(options, patches), patches.devices);
  return asText(summarise(graphs, plan, placed, devices), *graphs.labels);
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
  if (places && request.format != GraphFormat::Text) {
    throw UsageError("places on devices are shown as text; leave --format out, or --device");
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
  const CompiledGraphs graphs = model.compile(request.rank, request.ranks, kTagBound, storage);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::size_t plan = positionOf(graphs, request.plan);
  std::cout << dumpGraph(
      graphs, plan, request.format,
      {request.ranks, request.unfolded, spent.count(), usage.ru_maxrss * std::int64_t{1024}});
  if (places) std::cout << placesText(devices, graphs, plan);
  std::cout << std::flush;
  return 0;
}

}  // namespace tessera
