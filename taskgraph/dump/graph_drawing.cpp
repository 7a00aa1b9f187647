#include <sstream>

#include "taskgraph/dump/graph_formats.hpp"

namespace tessera::detail {
namespace {

/// Calls `node(number, name, kind)` and `edge(from, to, count)` for what is to be drawn: blocks, or all
/// nodes.
template <class Node, class Edge>
void forEachDrawn(const DumpedGraph& dumped, Node&& node, Edge&& edge) {
  const CompiledGraph& graph = dumped.graph();
  if (!dumped.options.unfolded) {
    for (std::size_t b = 0; b < dumped.summary.blocks.size(); ++b) {
      const BlockSummary& block = dumped.summary.blocks[b];
      if (block.nodes == 0) continue;
      node(static_cast<std::int64_t>(b), block.name + " x " + std::to_string(block.nodes), block.kind);
    }
    for (const BlockEdge& e : dumped.summary.edges) edge(e.from, e.to, e.edges);
    return;
  }
  for (const NodeId n : graph.nodes()) {
    if (!graph.isSpare(n)) node(n.value(), instanceName(dumped, n), graph.block(n).kind);
  }
  for (const NodeId n : graph.nodes()) {
    for (const NodeId next : graph.successors(n)) edge(n.value(), next.value(), std::int64_t{1});
  }
}

const char* shapeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::Task:
      return "box";
    case NodeKind::Fill:
      return "ellipse";
    case NodeKind::Send:
    case NodeKind::Receive:
      return "cds";
    case NodeKind::Reduce:
      return "diamond";
  }
  return "box";
}

std::string xml(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

}  // namespace

std::string instanceName(const DumpedGraph& dumped, NodeId node) {
  const CompiledGraph& graph = dumped.graph();
  const NodeBlock& block = graph.block(node);
  if (graph.isSpare(node)) return "spare";
  const std::string& name = dumped.summary.blocks[static_cast<std::size_t>(graph.blockOf[node])].name;
  const std::int64_t number = node - block.firstNode;
  const auto message = static_cast<std::size_t>(block.item + number);
  if (block.kind == NodeKind::Send) return name + " to rank " + std::to_string(graph.sends[message].peer);
  if (block.kind == NodeKind::Receive)
    return name + " from rank " + std::to_string(graph.receives[message].peer);
  if (block.kind == NodeKind::Reduce) return name;
  const auto item = static_cast<std::size_t>(block.item);
  const bool onceARank = block.kind == NodeKind::Task ? !graph.units[item].hasPatch()
                                                      : graph.fills[item].reach == Reach::WholeLevel;
  if (onceARank) return name;
  const PatchId patch = dumped.graphs.ownPatches[static_cast<std::size_t>(block.firstLocal + number)];
  return name + ", " + asText(dumped.graphs.hierarchy->patch(patch));
}

std::string inQuotes(std::string_view text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe + '"';
}

std::string dotOf(const DumpedGraph& dumped) {
  std::ostringstream out;
  out << "digraph " << inQuotes(dumped.graph().plan->name()) << " {\n  rankdir=TB;\n";
  forEachDrawn(
      dumped,
      [&](std::int64_t n, const std::string& name, NodeKind kind) {
        out << "  n" << n << " [label=" << inQuotes(name) << ", shape=" << shapeOf(kind) << "];\n";
      },
      [&](std::int32_t from, std::int32_t to, std::int64_t count) {
        out << "  n" << from << " -> n" << to;
        if (count > 1) out << " [label=\"" << count << "\"]";
        out << ";\n";
      });
  out << "}\n";
  return out.str();
}

std::string graphMlOf(const DumpedGraph& dumped) {
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
         "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
         "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
         "  <key id=\"edges\" for=\"edge\" attr.name=\"edges\" attr.type=\"long\"/>\n"
         "  <graph id=\""
      << xml(dumped.graph().plan->name()) << "\" edgedefault=\"directed\">\n";
  forEachDrawn(
      dumped,
      [&](std::int64_t n, const std::string& name, NodeKind kind) {
        out << "    <node id=\"n" << n << "\"><data key=\"name\">" << xml(name)
            << "</data><data key=\"kind\">" << nameOf(kind) << "</data></node>\n";
      },
      [&](std::int32_t from, std::int32_t to, std::int64_t count) {
        out << "    <edge source=\"n" << from << "\" target=\"n" << to << "\"><data key=\"edges\">" << count
            << "</data></edge>\n";
      });
  out << "  </graph>\n</graphml>\n";
  return out.str();
}

}  // namespace tessera::detail
