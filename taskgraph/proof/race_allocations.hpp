#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "taskgraph/compile/union_graph.hpp"
#include "taskgraph/proof/touches.hpp"

namespace tessera::detail {

/// Bytes that several memories use one after another.
struct Allocation {
  Rank rank = 0;
  Memory::Kind kind = Memory::Kind::Entry;
  std::int32_t slot = 0;
  std::int64_t patch = 0;  ///< own patch of Entry, else 0
  friend auto operator<=>(const Allocation&, const Allocation&) = default;
};

/// Two touches of different memories in one room, one of them writing: positions in the list of touches.
struct AllocationConflict {
  std::size_t first = 0;
  std::size_t second = 0;
};

/// Finds which memories share a room, from the slots that the warehouse goes by.
class RaceAllocations {
 public:
  RaceAllocations(std::span<const CompiledGraphs> ranks, std::size_t plan);

  /// The shared memory that `memory` lies in; empty where no other variable uses it.
  std::optional<Allocation> allocationOf(const Memory& memory) const;
  /// Pairs of nodes of which the first must end before the second begins, whatever boxes they touch: bytes of
  /// one variable are not those of the same index of another. The memory that is touched first in some order
  /// of the graph comes first; a path from each of its nodes to those of the next one is what makes this true
  /// of all orders. `touches` are sorted by memory.
  std::vector<AllocationConflict> conflicts(std::span<const Touch> touches, const UnionGraph& nodes) const;

 private:
  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  std::map<LevelLabel, std::int32_t> slots_;  ///< of variables; the same on every rank
};

}  // namespace tessera::detail
