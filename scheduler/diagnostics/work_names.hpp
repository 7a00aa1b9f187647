#pragma once

#include <string>

#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/dump/graph_summary.hpp"

namespace tessera::detail {

/// The short names under which a node's work appears in traces and profilers; all patches have one name.
class WorkNames {
 public:
  /// `graphs` outlives the object.
  WorkNames(const CompiledGraphs& graphs, std::size_t plan);

  /// What a worker does: "Heat::advance", "halo of Old temperature", "pack for rank 1", "join dt".
  std::string work(std::int32_t node) const;
  /// What continues without a worker afterwards: "to rank 1", "from rank 1", "reduce dt"; empty for tasks and
  /// halos.
  std::string wait(std::int32_t node) const;

 private:
  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  GraphSummary summary_;
};

}  // namespace tessera::detail
