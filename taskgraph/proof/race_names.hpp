#pragma once

#include <span>
#include <string>

#include "taskgraph/compile/union_graph.hpp"
#include "taskgraph/proof/touches.hpp"

namespace tessera::detail {

/// Names of nodes and memories in the sentences of the race check.
class RaceNames {
 public:
  RaceNames(std::span<const CompiledGraphs> ranks, std::size_t plan, const UnionGraph& nodes)
      : ranks_(ranks), plan_(plan), nodes_(nodes) {}

  /// "Test::write on L0/P0003 [..] (rank 1, node 12)", "halo of New u around L0/P0002 [..] (rank 0, node 7)".
  std::string node(std::int64_t node) const;
  /// "New u on L0/P0003 [..] of rank 1".
  std::string memory(const Memory& memory) const;
  /// "Old u", "New u (version 1)".
  std::string value(LabelId label, std::int32_t version) const;

 private:
  std::string fill(const FillPlan& fill, std::int64_t local, const CompiledGraphs& rank) const;
  std::string patch(const CompiledGraphs& rank, std::int64_t local) const;

  std::span<const CompiledGraphs> ranks_;
  std::size_t plan_;
  const UnionGraph& nodes_;
};

}  // namespace tessera::detail
