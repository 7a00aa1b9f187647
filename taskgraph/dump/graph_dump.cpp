#include "taskgraph/dump/graph_dump.hpp"

#include "taskgraph/dump/graph_formats.hpp"

namespace tessera {

std::string dumpGraph(const CompiledGraphs& graphs, std::size_t plan, GraphFormat format,
                      const GraphDumpOptions& options) {
  const detail::DumpedGraph dumped{graphs, plan, summarise(graphs, plan), options};
  switch (format) {
    case GraphFormat::Text:
      return detail::textOf(dumped);
    case GraphFormat::Json:
      return detail::jsonOf(dumped);
    case GraphFormat::Dot:
      return detail::dotOf(dumped);
    case GraphFormat::GraphMl:
      return detail::graphMlOf(dumped);
  }
  return "";
}

const char* nameOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::Task:
      return "task";
    case NodeKind::Fill:
      return "fill";
    case NodeKind::Send:
      return "send";
    case NodeKind::Receive:
      return "receive";
    case NodeKind::Reduce:
      return "reduce";
  }
  return "";
}

}  // namespace tessera
