#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "taskgraph/dump/graph_summary.hpp"

namespace tessera {

/// How a graph is written down.
enum class GraphFormat : std::uint8_t {
  Text,     ///< for people
  Json,     ///< for programs: all numbers of the text, and the edges
  Dot,      ///< for Graphviz
  GraphMl,  ///< for graph editors and libraries
};

struct GraphDumpOptions {
  int ranks = 1;  ///< of the job that the rank belongs to
  /// One node for each instance and message in place of one for each task and level. Text is always folded.
  bool unfolded = false;
  /// What the caller measured; left out where there is nothing, so that equal graphs give equal texts.
  std::optional<double> compileSeconds;
  std::optional<std::int64_t> peakBytes;  ///< most memory that the process has held
};

/// Plan number `plan` as a text that ends in a newline. Pure: it writes no file and needs no MPI.
///
///   std::cout << dumpGraph(model.compile(mesh, 1, 4, tagBound), 1, GraphFormat::Dot, {.ranks = 4});
std::string dumpGraph(const CompiledGraphs& graphs, std::size_t plan, GraphFormat format,
                      const GraphDumpOptions& options);

/// "task", "fill", "send", "receive" or "reduce".
const char* nameOf(NodeKind kind);

}  // namespace tessera
