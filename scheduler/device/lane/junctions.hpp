#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tessera::detail {

/// The edges of a plan as lists by node, with junctions: where b tasks wait for the same a ones, these lead
/// to one node more, behind all tasks, and that to those who wait. So a step in which everybody waits for
/// everybody has a + b edges in place of a * b. Lists rise.
struct Junctions {
  Junctions(std::size_t tasks, std::span<const std::pair<std::int32_t, std::int32_t>> edges);

  std::int32_t nodes = 0;                                    ///< tasks and junctions
  std::vector<std::int32_t> successors, successorBegin;      ///< `begin` has one entry more than nodes
  std::vector<std::int32_t> predecessors, predecessorBegin;  ///< likewise
};

}  // namespace tessera::detail
