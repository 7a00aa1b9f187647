#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera {

/// What the proof of a placement has looked at and found.
struct PlacementReport {
  std::int64_t nodes = 0;  ///< of all ranks together
  std::int64_t edges = 0;  ///< of executors and lanes, and one from each send to its receive
  std::int64_t added = 0;  ///< twins, packs and copies among the nodes
  std::int64_t conflicts =
      0;  ///< pairs of nodes that touch the same memory of one space, one of them writing
  std::int64_t faultCount = 0;
  std::vector<std::string> faults;  ///< the first ones, each a paragraph

  bool clean() const { return faultCount == 0; }
};

/// Proves, for one plan whose nodes have places, what `checkRaces` proves of the plan itself, for the memory
/// of the host and of each device on its own:
///
/// * every index that a node reads has been written where the node looks for it, with the version that the
///   declaration means: by a node that runs there, by a copy, or before the plan where `oldNeeds` asks for
///   it;
/// * of two nodes that touch the same memory, one of them writing, a path over edges of executors, lanes and
///   messages leads from the one to the other, in the direction that the versions ask for; so too where
///   variables or gather buffers share memory;
/// * each node of the compiled graph is there once, edges are dealt out as PlacedGraph says, counts agree
/// with
///   them, and nothing waits in a cycle.
///
/// It shares no code with `placeGraph`. `ranks` and `placed` are those of rank 0, 1, ...; InternalError where
/// there are more than `kRaceCheckNodes` nodes.
PlacementReport checkPlacement(std::span<const CompiledGraphs> ranks, std::size_t plan,
                               std::span<const PlacedGraph> placed);

/// For tests: places every plan of every rank by `placeOf(rank)`, with patches at home where `homesOf(rank)`
/// says (without: nowhere), looks at each and throws InternalError with the first faults. Returns the number
/// of conflicting pairs.
std::int64_t expectGoodPlacement(std::span<const CompiledGraphs> ranks,
                                 const std::function<PlaceTask(Rank)>& placeOf,
                                 const std::function<std::vector<DeviceAssignment>(Rank)>& homesOf = {});

}  // namespace tessera
