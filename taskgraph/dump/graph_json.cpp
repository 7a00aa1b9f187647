#include <array>
#include <sstream>

#include "taskgraph/dump/graph_formats.hpp"

namespace tessera::detail {
namespace {

/// Writes objects and lists with the commas where they belong.
class JsonWriter {
 public:
  void open(char bracket) {
    out_ << bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ << bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    comma();
    out_ << inQuotes(name) << ':';
    first_ = true;
  }
  void value(std::int64_t number) {
    comma();
    out_ << number;
  }
  void value(double number) {
    comma();
    out_ << number;
  }
  void value(std::string_view text) {
    comma();
    out_ << inQuotes(text);
  }
  template <class T>
  void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }
  /// Calls `write(element)` for each one, separated by commas.
  template <class List, class Write>
  void list(std::string_view name, const List& elements, Write&& write) {
    key(name);
    open('[');
    for (const auto& element : elements) write(element);
    close(']');
  }
  void openElement(char bracket) {
    comma();
    open(bracket);
  }
  std::string text() const { return out_.str() + "\n"; }

 private:
  void comma() {
    if (!first_) out_ << ',';
    first_ = false;
  }
  std::ostringstream out_;
  bool first_ = true;
};

constexpr std::array kKinds{NodeKind::Task, NodeKind::Fill, NodeKind::Send, NodeKind::Receive,
                            NodeKind::Reduce};

void writeCounts(JsonWriter& json, const DumpedGraph& dumped) {
  json.member("plan", std::string_view(dumped.graph().plan->name()));
  json.member("rank", std::int64_t{dumped.graphs.rank});
  json.member("ranks", std::int64_t{dumped.options.ranks});
  json.member("levels", static_cast<std::int64_t>(dumped.graphs.hierarchy->levels().size()));
  json.member("patches", dumped.graphs.hierarchy->patchCount());
  json.member("own_patches", dumped.graphs.ownPatchCount());
  json.key("nodes");
  json.open('{');
  for (const NodeKind kind : kKinds) json.member(nameOf(kind), dumped.summary.nodesOf(kind));
  json.close('}');
  json.member("edges", dumped.summary.edgeCount());
}

void writeBlocks(JsonWriter& json, const DumpedGraph& dumped) {
  json.list("blocks", dumped.summary.blocks, [&](const BlockSummary& block) {
    json.openElement('{');
    json.member("kind", std::string_view(nameOf(block.kind)));
    json.member("name", std::string_view(block.name));
    json.member("nodes", block.nodes);
    json.member("priority", std::int64_t{block.priority});
    json.member("slack", std::int64_t{block.slack});
    json.close('}');
  });
  json.list("block_edges", dumped.summary.edges, [&](const BlockEdge& edge) {
    json.openElement('{');
    json.member("from", std::int64_t{edge.from});
    json.member("to", std::int64_t{edge.to});
    json.member("edges", edge.edges);
    json.close('}');
  });
}

void writePeers(JsonWriter& json, const DumpedGraph& dumped) {
  json.list("peers", dumped.summary.peers, [&](const PeerSummary& peer) {
    json.openElement('{');
    json.member("rank", std::int64_t{peer.peer});
    json.member("sends", peer.sends);
    json.member("send_bytes", peer.sendBytes);
    json.member("receives", peer.receives);
    json.member("receive_bytes", peer.receiveBytes);
    json.close('}');
  });
}

void writeTotals(JsonWriter& json, const DumpedGraph& dumped) {
  const GraphSummary& s = dumped.summary;
  json.key("messages");
  json.open('{');
  json.member("sends", s.exchanged.sends);
  json.member("send_bytes", s.exchanged.sendBytes);
  json.member("receives", s.exchanged.receives);
  json.member("receive_bytes", s.exchanged.receiveBytes);
  json.member("whole_level_receives", s.wholeLevelReceives);
  json.member("whole_level_bytes", s.wholeLevelBytes);
  json.close('}');
}

void writeMemory(JsonWriter& json, const DumpedGraph& dumped) {
  json.key("memory");
  json.open('{');
  json.list("variables", dumped.summary.labels, [&](const LabelMemory& label) {
    json.openElement('{');
    json.member("name", std::string_view(dumped.graphs.labels->info(label.label).name));
    json.member("patches", label.patches);
    json.member("generations", std::int64_t{label.generations});
    json.member("bytes", label.bytes);
    json.member("distinct_bytes", label.distinctBytes);
    json.member("shared_windows", label.sharedWindows);
    json.member("shared", std::int64_t{label.shared ? 1 : 0});
    json.close('}');
  });
  json.member("fields", dumped.summary.planned.fields);
  json.member("fields_over_distinct", dumped.summary.overhead);
  json.member("fields_without_reuse", dumped.summary.planned.fieldsWithoutReuse);
  json.member("gathers", dumped.summary.gathers);
  json.member("largest_gathers", dumped.summary.planned.gathers);
  json.member("largest_gathers_without_reuse", dumped.summary.planned.gathersWithoutReuse);
  json.member("messages", dumped.summary.messageBuffers);
  json.member("total", dumped.summary.memory());
  json.member("total_without_reuse", dumped.summary.memoryWithoutReuse());
  json.member("graph", dumped.summary.graphBytes);
  json.close('}');
}

void writeCarryOver(JsonWriter& json, const DumpedGraph& dumped) {
  const auto list = [&](const char* name, const std::vector<CarryOver>& carried) {
    json.list(name, carried, [&](const CarryOver& c) {
      json.openElement('{');
      json.member("name", std::string_view(dumped.graphs.labels->info(c.what.label).name));
      json.member("level", std::int64_t{c.what.level});
      json.list("plans", c.plans, [&](const std::string& plan) { json.value(std::string_view(plan)); });
      json.close('}');
    });
  };
  list("reads_old", dumped.summary.readsOld);
  list("leaves", dumped.summary.leaves);
}

void writeInstances(JsonWriter& json, const DumpedGraph& dumped) {
  const CompiledGraph& graph = dumped.graph();
  json.key("instances");
  json.open('[');
  for (const NodeId node : graph.nodes()) {
    json.openElement('{');
    json.member("name", std::string_view(instanceName(dumped, node)));
    json.member("block", std::int64_t{graph.blockOf[node]});
    json.list("successors", graph.successors(node),
              [&](NodeId next) { json.value(std::int64_t{next.value()}); });
    json.close('}');
  }
  json.close(']');
}

}  // namespace

std::string jsonOf(const DumpedGraph& dumped) {
  JsonWriter json;
  json.open('{');
  writeCounts(json, dumped);
  writeBlocks(json, dumped);
  writePeers(json, dumped);
  writeTotals(json, dumped);
  writeMemory(json, dumped);
  json.key("longest_chain");
  json.open('{');
  json.member("tasks", dumped.summary.longest.tasks);
  json.member("nodes", dumped.summary.longest.nodes);
  json.list("blocks", dumped.summary.longest.blocks,
            [&](std::int32_t block) { json.value(std::int64_t{block}); });
  json.close('}');
  writeCarryOver(json, dumped);
  if (dumped.options.compileSeconds) json.member("compile_seconds", *dumped.options.compileSeconds);
  if (dumped.options.peakBytes) json.member("process_peak_bytes", *dumped.options.peakBytes);
  if (dumped.options.unfolded) writeInstances(json, dumped);
  json.close('}');
  return json.text();
}

}  // namespace tessera::detail
