#include <algorithm>
#include <iomanip>
#include <sstream>

#include "taskgraph/dump/graph_formats.hpp"

namespace tessera::detail {
namespace {

std::string counted(std::int64_t n, const std::string& what) {
  const char* plural = what.ends_with("ch") ? "es" : "s";
  return std::to_string(n) + " " + what + (n == 1 ? "" : plural);
}

void writeHead(std::ostream& out, const DumpedGraph& dumped) {
  const GraphSummary& s = dumped.summary;
  out << "plan " << dumped.graph().plan->name() << " on rank " << dumped.graphs.rank << " of "
      << dumped.options.ranks << ": " << counted(dumped.graphs.ownPatchCount(), "patch") << " of "
      << dumped.graphs.hierarchy->patchCount() << '\n'
      << counted(s.nodesOf(NodeKind::Task), "task instance") << ", "
      << counted(s.nodesOf(NodeKind::Fill), "fill") << ", " << counted(s.nodesOf(NodeKind::Send), "send")
      << ", " << counted(s.nodesOf(NodeKind::Receive), "receive") << ", "
      << counted(s.nodesOf(NodeKind::Reduce), "reduction") << ", " << counted(s.edgeCount(), "edge") << '\n';
}

/// Blocks that hold no node of this rank are left out.
void writeBlocks(std::ostream& out, const DumpedGraph& dumped) {
  const GraphSummary& s = dumped.summary;
  std::size_t width = 0;
  for (const BlockSummary& block : s.blocks) width = std::max(width, block.name.size());
  out << "nodes, in an order that can run\n";
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    const BlockSummary& block = s.blocks[b];
    if (block.nodes == 0) continue;
    out << "  " << std::setw(3) << b << "  " << std::left << std::setw(static_cast<int>(width)) << block.name
        << std::right << "  x " << block.nodes;
    if (block.priority != 0) out << ", priority " << block.priority;
    if (block.slack != 0) out << ", slack " << block.slack;
    const char* before = ", after ";
    for (const BlockEdge& edge : s.edges) {
      if (edge.to != static_cast<std::int32_t>(b)) continue;
      out << before << edge.from;
      before = ", ";
    }
    out << '\n';
  }
}

void writeCounts(std::ostream& out, const PeerSummary& peer) {
  out << peer.sends << " out, " << peer.sendBytes << " bytes; " << peer.receives << " in, "
      << peer.receiveBytes << " bytes";
}

void writePeers(std::ostream& out, const DumpedGraph& dumped) {
  out << "messages\n";
  if (dumped.summary.peers.empty()) out << "  none\n";
  for (const PeerSummary& peer : dumped.summary.peers) {
    out << "  rank " << peer.peer << "  ";
    writeCounts(out, peer);
    out << '\n';
  }
  if (dumped.summary.peers.empty()) return;
  out << "  total  ";
  writeCounts(out, dumped.summary.exchanged);
  if (dumped.summary.wholeLevelReceives > 0) {
    out << ", of which " << dumped.summary.wholeLevelReceives << " in and " << dumped.summary.wholeLevelBytes
        << " bytes for whole levels";
  }
  out << '\n';
}

void writeMemory(std::ostream& out, const DumpedGraph& dumped) {
  const GraphSummary& s = dumped.summary;
  out << "memory, in bytes\n";
  for (const LabelMemory& label : s.labels) {
    out << "  " << dumped.graphs.labels->info(label.label).name << "  " << label.bytes << " on "
        << counted(label.patches, "patch") << (label.generations == 2 ? ", Old and New" : "")
        << (label.shared ? ", in shared memory" : "");
    if (label.sharedWindows > 0)
      out << ", " << counted(label.sharedWindows, "window") << " of several patches";
    out << '\n';
  }
  out << "  variables of this rank  " << s.planned.fields << " (" << s.planned.fieldsWithoutReuse
      << " without reuse), " << std::fixed << std::setprecision(3) << s.overhead
      << " x their distinct bytes\n"
      << "  gathers of other levels  " << s.gathers << "; in the largest plan " << s.planned.gathers << " ("
      << s.planned.gathersWithoutReuse << " without reuse)\n"
      << "  messages  " << s.messageBuffers << '\n'
      << "  total  " << s.memory() << " (" << s.memoryWithoutReuse() << " without reuse)\n";
}

void writePath(std::ostream& out, const DumpedGraph& dumped) {
  const CriticalPath& path = dumped.summary.longest;
  out << "longest chain: " << counted(path.tasks, "task") << " among " << counted(path.nodes, "node") << '\n';
  for (std::size_t n = 0; n < path.blocks.size(); ++n) {
    out << (n == 0 ? "  " : "  -> ") << dumped.summary.blocks[static_cast<std::size_t>(path.blocks[n])].name
        << '\n';
  }
}

void writeCarryOver(std::ostream& out, const DumpedGraph& dumped) {
  const auto list = [&](const std::vector<CarryOver>& carried, const char* verb, const char* others) {
    for (const CarryOver& c : carried) {
      out << "  " << verb << nameOf(c.what, dumped.graphs) << others;
      for (std::size_t n = 0; n < c.plans.size(); ++n) out << (n == 0 ? "" : ", ") << c.plans[n];
      out << '\n';
    }
  };
  out << "carried from plan to plan\n";
  if (dumped.summary.readsOld.empty() && dumped.summary.leaves.empty()) out << "  nothing\n";
  list(dumped.summary.readsOld, "reads Old ", ", which is left by ");
  list(dumped.summary.leaves, "leaves ", ", which is read by ");
}

}  // namespace

std::string textOf(const DumpedGraph& dumped) {
  std::ostringstream out;
  writeHead(out, dumped);
  writeBlocks(out, dumped);
  writePeers(out, dumped);
  writeMemory(out, dumped);
  writePath(out, dumped);
  writeCarryOver(out, dumped);
  out << "graph: " << dumped.summary.graphBytes << " bytes";
  if (dumped.options.compileSeconds) {
    out << std::fixed << std::setprecision(3) << ", all plans compiled in "
        << 1e3 * *dumped.options.compileSeconds << " ms";
  }
  if (dumped.options.peakBytes) {
    out << std::fixed << std::setprecision(1) << ", the process held "
        << 1e-6 * static_cast<double>(*dumped.options.peakBytes) << " MB at most";
  }
  out << '\n';
  return out.str();
}

}  // namespace tessera::detail
