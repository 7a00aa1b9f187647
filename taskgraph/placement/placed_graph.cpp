#include "taskgraph/placement/placed_graph.hpp"

#include <algorithm>
#include <utility>

#include "taskgraph/edges/added_nodes.hpp"
#include "taskgraph/edges/edge_router.hpp"
#include "taskgraph/placement/node_assignments.hpp"
#include "taskgraph/placement/packed_values.hpp"
#include "taskgraph/placement/placed_edges.hpp"
#include "taskgraph/placement/value_flow.hpp"

namespace tessera {
namespace {

using detail::AddedNodesTable;
using detail::DeviceAssignments;
using detail::EdgeRouter;
using detail::Route;

/// The blocks of the compiled graph, cut where the place changes.
void cutBlocks(const CompiledGraph& graph, const DeviceAssignments& places, PlacedGraph& placed) {
  placed.blockOf.assign(static_cast<std::size_t>(graph.nodeCount()), -1);
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& block = graph.blocks[b];
    for (std::int32_t n = 0; n < block.count; ++n) {
      const std::int32_t node = block.firstNode + n;
      const DeviceAssignment place = detail::firstOf(places.of(node));
      if (n == 0 || placed.blocks.back().place != place) {
        placed.blocks.push_back({PlacedKind::Original, place, static_cast<std::int32_t>(b), node, 0, n, -1});
      }
      ++placed.blocks.back().count;
      placed.blockOf[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(placed.blocks.size()) - 1;
    }
  }
}

/// Twins of fills, and the packs of sends.
void addTwinsAndPacks(const CompiledGraph& graph, const DeviceAssignments& places, AddedNodesTable& added) {
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const NodeBlock& block = graph.blocks[b];
    const auto number = static_cast<std::int32_t>(b);
    for (std::int32_t n = 0; n < block.count; ++n) {
      if (block.kind == NodeKind::Fill) {
        detail::forEachPlace(detail::withoutFirst(places.of(block.firstNode + n)),
                             [&](DeviceAssignment place) { added.add(PlacedKind::Twin, number, n, place); });
      } else if (block.kind == NodeKind::Send) {
        detail::forEachPlace(places.packing(block.item + n),
                             [&](DeviceAssignment place) { added.add(PlacedKind::Pack, number, n, place); });
      }
    }
  }
}

void addCopies(const CompiledGraph& graph, EdgeRouter& router, AddedNodesTable& added) {
  std::vector<Route> routes;
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const auto number = static_cast<std::int32_t>(b);
    const NodeBlock& block = graph.blocks[b];
    if (block.kind != NodeKind::Task || !router.hasReaders(number)) continue;
    for (std::int32_t n = 0; n < block.count; ++n) {
      router.route(number, block.firstNode + n, routes);
      for (const Route& route : routes) {
        if (route.copied < 0) continue;
        if (route.from != kOnHost) added.add(PlacedKind::CopyOut, number, n, route.from, route.copied);
        if (route.to != kOnHost) added.add(PlacedKind::CopyIn, number, n, route.to, route.copied);
      }
    }
  }
}

}  // namespace

PlacedGraph placeGraph(const CompiledGraphs& graphs, std::size_t plan, const PlaceTask& place,
                       std::vector<DeviceAssignment> homes) {
  const CompiledGraph& graph = graphs.plans[plan];
  const detail::ValueFlow flow(graph);
  const detail::PackedValues packed(graph, flow);
  const DeviceAssignments places(graphs, plan, place, flow, packed);
  AddedNodesTable added(graph);

  PlacedGraph placed;
  placed.homes = std::move(homes);
  EdgeRouter router(graphs, plan, flow, packed, places, added, placed.homes);
  cutBlocks(graph, places, placed);
  addTwinsAndPacks(graph, places, added);
  addCopies(graph, router, added);
  added.number(placed);
  detail::dealOutEdges(graph, router, added, places, placed);
  placed.packPlaces = places.packs();
  placed.oldNeeds = places.oldNeeds();
  return placed;
}

}  // namespace tessera
