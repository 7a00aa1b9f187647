#pragma once

#include <string>
#include <string_view>

#include "taskgraph/dump/graph_dump.hpp"

namespace tessera::detail {

/// What the writers of all formats get.
struct DumpedGraph {
  const CompiledGraphs& graphs;
  std::size_t plan;
  GraphSummary summary;
  const GraphDumpOptions& options;

  const CompiledGraph& graph() const { return graphs.plans[plan]; }
};

std::string textOf(const DumpedGraph& dumped);
std::string jsonOf(const DumpedGraph& dumped);
std::string dotOf(const DumpedGraph& dumped);
std::string graphMlOf(const DumpedGraph& dumped);

/// A node as people name it: "Heat::advance, L0/P0003 [0,0,0]..[7,7,7]", "send to rank 2".
std::string instanceName(const DumpedGraph& dumped, NodeId node);

/// The text within quotes, with what JSON and DOT cannot have there escaped.
std::string inQuotes(std::string_view text);

}  // namespace tessera::detail
