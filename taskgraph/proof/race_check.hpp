#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// What the proof has looked at and found.
struct RaceReport {
  std::int64_t nodes = 0;      ///< of all ranks together
  std::int64_t edges = 0;      ///< successors of all ranks, and one from each send to its receive
  std::int64_t conflicts = 0;  ///< pairs of nodes that touch the same memory, one of them writing
  std::int64_t faultCount = 0;
  std::vector<std::string>
      faults;  ///< the first ones, each a paragraph: the nodes, what they touch, and which path is missing

  bool clean() const { return faultCount == 0; }
};

/// Largest number of nodes, of all ranks together, that is looked at: the proof asks for paths, at a cost of
/// O(nodes x edges / 64).
inline constexpr std::int64_t kRaceCheckNodes = 100'000;

/// Nodes of one plan on all ranks together.
std::int64_t nodesOfAllRanks(std::span<const CompiledGraphs> ranks, std::size_t plan);

/// Proves, for one plan, that what the nodes of all ranks do is the same in every order that the edges allow:
///
/// * of two nodes that touch the same memory, one of them writing, a path leads from the one to the other, in
/// the
///   direction that the versions of the label ask for (so a read comes after its producer and before the next
///   change);
/// * of two variables, or two gather buffers, that share memory, one is done with before the other begins;
/// * every index that a task declares to read has been written, with the version that the declaration means;
/// * every message has one partner with the same bytes, and what is packed is what the receiver takes it for;
/// * counts of predecessors agree with the edges, and nothing waits in a cycle.
///
/// It shares no code with the compiler beyond the geometry of `fill_geometry.hpp`, by which the runner, too,
/// finds the regions it copies: versions are derived anew from the declarations of the plan.
///
/// `ranks` are the graphs of rank 0, 1, ...; InternalError where there are more than `kRaceCheckNodes` nodes.
RaceReport checkRaces(std::span<const CompiledGraphs> ranks, std::size_t plan);

/// For tests: looks at every plan and throws InternalError with the first faults. Returns the number of
/// conflicting pairs, so that a test can see that there was something to prove.
std::int64_t expectNoRaces(std::span<const CompiledGraphs> ranks);

}  // namespace tessera
