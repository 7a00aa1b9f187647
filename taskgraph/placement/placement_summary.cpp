#include "taskgraph/placement/placement_summary.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "taskgraph/dump/graph_summary.hpp"

namespace tessera {
namespace {

void countNodes(const PlacedBlock& block, std::vector<PlacedNodes>& rows) {
  PlacedNodes& row = rows[static_cast<std::size_t>(block.block)];
  if (block.place == kOnHost) {
    row.onHost += block.count;
  } else {
    row.onDevices[static_cast<std::size_t>(block.place)] += block.count;
  }
}

void countCopies(const CompiledGraphs& graphs, const CompiledGraph& graph, const PlacedBlock& block,
                 std::vector<PlannedCopy>& copies) {
  const bool toHost = block.kind == PlacedKind::CopyOut;
  const auto found = std::find_if(copies.begin(), copies.end(), [&](const PlannedCopy& copy) {
    return copy.label == block.label && copy.device == block.place && copy.toHost == toHost;
  });
  PlannedCopy& copy = found != copies.end()
                          ? *found
                          : copies.emplace_back(PlannedCopy{block.label, block.place, toHost, 0, 0});
  const LabelInfo& info = graphs.labels->info(block.label);
  const NodeBlock& writer = graph.blocks[static_cast<std::size_t>(block.block)];
  for (std::int32_t n = block.firstNumber; n < block.firstNumber + block.count; ++n) {
    const Patch& patch =
        graphs.hierarchy->patch(graphs.ownPatches[static_cast<std::size_t>(writer.firstLocal + n)]);
    copy.values += 1;
    copy.bytes +=
        graphs.hierarchy->level(patch.level).ownedBy(patch, info.centering).volume() * info.type.bytes();
  }
}

void countPacks(const CompiledGraph& graph, const PlacedGraph& placed, PlacementSummary& summary) {
  for (std::size_t n = 0; n < placed.packPlaces.size(); ++n) {
    const DeviceAssignment place = placed.packPlaces[n];
    (place == kOnHost ? summary.packedOnHost : summary.packedBytes[static_cast<std::size_t>(place)]) +=
        graph.packItems[n].bytes;
  }
}

void countEdge(DeviceAssignment from, DeviceAssignment to, PlacedEdges& edges) {
  const bool fromHost = from == kOnHost;
  const bool toHost = to == kOnHost;
  ++(fromHost && toHost ? edges.onHost
     : fromHost         ? edges.hostToDevice
     : toHost           ? edges.deviceToHost
     : from == to       ? edges.onDevice
                        : edges.betweenDevices);
}

void countEdges(const PlacedGraph& placed, PlacedEdges& edges) {
  for (std::int32_t node = 0; node < placed.nodeCount(); ++node) {
    if (placed.blockOf[static_cast<std::size_t>(node)] < 0) continue;
    for (const std::int32_t then : placed.hostEdges.row(node)) {
      countEdge(placed.place(node), placed.place(then), edges);
    }
  }
  edges.onDevice += std::ssize(placed.deviceEdges);
  edges.betweenDevices += std::ssize(placed.peerEdges);
}

void writeNodes(std::ostream& out, const PlacementSummary& summary) {
  std::size_t width = 5;
  for (const PlacedNodes& row : summary.blocks) width = std::max(width, row.name.size());
  const auto name = [&](const std::string& text) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << text << std::right;
  };
  out << "places\n";
  name("nodes");
  out << std::setw(10) << "host";
  for (int device = 0; device < summary.devices; ++device) {
    out << std::setw(12) << ("device " + std::to_string(device));
  }
  out << '\n';
  for (const PlacedNodes& row : summary.blocks) {
    name(row.name);
    out << std::setw(10) << row.onHost;
    for (const std::int64_t nodes : row.onDevices) out << std::setw(12) << nodes;
    out << '\n';
  }
}

void writeCopies(std::ostream& out, const PlacementSummary& summary, const LabelTable& labels) {
  out << "copies in each run\n";
  if (summary.copies.empty()) out << "  none\n";
  for (const PlannedCopy& copy : summary.copies) {
    out << "  New " << labels.info(copy.label).name << " from "
        << (copy.toHost ? "device " + std::to_string(copy.device) + " to the host"
                        : "the host to device " + std::to_string(copy.device))
        << "  " << copy.values << " patches, " << copy.bytes << " bytes\n";
  }
}

void writeNeeds(std::ostream& out, const PlacementSummary& summary, const LabelTable& labels) {
  out << "Old values read, copied before the run where they are not valid\n";
  if (summary.oldNeeds.empty()) out << "  nothing\n";
  for (const OldNeed& need : summary.oldNeeds) {
    out << "  " << labels.info(need.label).name << " on level " << need.level << "  "
        << (need.place == kOnHost ? "on the host" : "on device " + std::to_string(need.place)) << '\n';
  }
}

}  // namespace

PlacementSummary summarise(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed,
                           int devices) {
  const CompiledGraph& graph = graphs.plans[plan];
  const GraphSummary named = summarise(graphs, plan);
  PlacementSummary summary;
  summary.devices = devices;
  summary.packedBytes.resize(static_cast<std::size_t>(devices));
  for (const BlockSummary& block : named.blocks) {
    summary.blocks.push_back(
        {block.kind, block.name, 0, std::vector<std::int64_t>(static_cast<std::size_t>(devices))});
  }
  for (const PlacedBlock& block : placed.blocks) {
    if (block.kind == PlacedKind::CopyIn || block.kind == PlacedKind::CopyOut) {
      countCopies(graphs, graph, block, summary.copies);
    } else if (block.kind != PlacedKind::Pack) {
      countNodes(block, summary.blocks);
    }
  }
  std::erase_if(summary.blocks, [](const PlacedNodes& row) {
    return row.onHost == 0 && std::all_of(row.onDevices.begin(), row.onDevices.end(),
                                          [](std::int64_t nodes) { return nodes == 0; });
  });
  std::sort(summary.copies.begin(), summary.copies.end(), [](const PlannedCopy& a, const PlannedCopy& b) {
    return std::tie(a.label, a.device, a.toHost) < std::tie(b.label, b.device, b.toHost);
  });
  countPacks(graph, placed, summary);
  summary.oldNeeds = placed.oldNeeds;
  countEdges(placed, summary.edges);
  return summary;
}

std::string asText(const PlacementSummary& summary, const LabelTable& labels) {
  std::ostringstream out;
  writeNodes(out, summary);
  writeCopies(out, summary, labels);
  writeNeeds(out, summary, labels);
  out << "bytes of messages, packed\n  on the host  " << summary.packedOnHost << '\n';
  for (std::size_t device = 0; device < summary.packedBytes.size(); ++device) {
    out << "  on device " << device << "  " << summary.packedBytes[device] << '\n';
  }
  const PlacedEdges& edges = summary.edges;
  out << "edges: " << edges.onHost << " on the host, " << edges.hostToDevice << " from it to a device, "
      << edges.deviceToHost << " from a device to it, " << edges.onDevice << " on a device, "
      << edges.betweenDevices << " from one device to another\n";
  return out.str();
}

}  // namespace tessera
