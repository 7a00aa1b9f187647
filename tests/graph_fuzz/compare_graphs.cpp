#include "tests/graph_fuzz/compare_graphs.hpp"

#include <algorithm>

namespace tessera::fuzz {
namespace {

/// Compares piece by piece; keeps the name of the first that differs.
class Comparer {
 public:
  template <class T>
  void list(const std::string& name, const T& a, const T& b) {
    if (!found_.empty()) return;
    if (a.size() != b.size()) {
      found_ = name + ": " + std::to_string(a.size()) + " entries, not " + std::to_string(b.size());
      return;
    }
    const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin());
    if (first != a.end()) found_ = name + ": entry " + std::to_string(first - a.begin());
  }
  template <class T>
  void value(const std::string& name, const T& a, const T& b) {
    if (found_.empty() && !(a == b)) found_ = name;
  }
  template <class T, class Row>
  void rows(const std::string& name, const RowLists<T, Row>& a, const RowLists<T, Row>& b,
            std::int64_t rows) {
    for (std::int64_t n = 0; n < rows && found_.empty(); ++n) {
      list(name + ", row " + std::to_string(n), a.row(Row(n)), b.row(Row(n)));
    }
  }
  void graph(const CompiledGraph& a, const CompiledGraph& b, const CompiledGraphs& graphs);
  const std::string& found() const { return found_; }

 private:
  void fill(const std::string& name, const FillPlan& a, const FillPlan& b, std::int64_t rows);

  std::string found_;
};

void Comparer::fill(const std::string& name, const FillPlan& a, const FillPlan& b, std::int64_t room) {
  value(name + ": label", a.label, b.label);
  value(name + ": version", a.version, b.version);
  value(name + ": reach", a.reach, b.reach);
  value(name + ": how", a.how, b.how);
  value(name + ": levels", std::pair(a.sourceLevel, a.readerLevel), std::pair(b.sourceLevel, b.readerLevel));
  value(name + ": halo", a.halo, b.halo);
  value(name + ": table", a.table, b.table);
  value(name + ": gather", a.firstGather, b.firstGather);
  value(name + ": shared windows", a.shared, b.shared);
  value(name + ": scratch", a.scratch, b.scratch);
  rows(name + ": pieces", a.pieces, b.pieces, room);
  rows(name + ": coarse pieces", a.coarse, b.coarse, room);
}

void Comparer::graph(const CompiledGraph& a, const CompiledGraph& b, const CompiledGraphs& graphs) {
  const std::string name = "plan " + a.plan->name() + ": ";
  list(name + "blocks", a.blocks, b.blocks);
  list(name + "blocks of nodes", a.blockOf.all(), b.blockOf.all());
  list(name + "units", a.units, b.units);
  list(name + "accesses", a.accesses, b.accesses);
  list(name + "sends", a.sends, b.sends);
  list(name + "receives", a.receives, b.receives);
  list(name + "pack items", a.packItems, b.packItems);
  list(name + "reductions", a.reductions, b.reductions);
  list(name + "written", a.written, b.written);
  value(name + "contributions", a.contributionCount, b.contributionCount);
  value(name + "longest way", a.longestWay, b.longestWay);
  value(name + "fills", a.fills.size(), b.fills.size());
  value(name + "tables", a.tables.size(), b.tables.size());
  for (std::size_t f = 0; f < a.fills.size() && found_.empty(); ++f) {
    const bool whole = a.fills[f].reach == Reach::WholeLevel;
    const std::int64_t room = whole ? 1 : roomOf(graphs, a.fills[f].readerLevel).size();
    fill(name + "fill " + std::to_string(f), a.fills[f], b.fills[f], room);
    const auto t = static_cast<std::size_t>(a.fills[f].table);
    if (found_.empty()) rows(name + "table " + std::to_string(t), a.tables[t], b.tables[t], room);
  }
  list(name + "single edges", a.singleEdges, b.singleEdges);
  list(name + "counts of predecessors", a.predecessorCounts.all(), b.predecessorCounts.all());
  rows(name + "successors", a.successorLists, b.successorLists, a.nodeCount());
}

}  // namespace

std::string firstDifference(const CompiledGraphs& a, const CompiledGraphs& b) {
  Comparer compare;
  compare.value("rank", a.rank, b.rank);
  compare.value("mesh", a.hierarchy->hash(), b.hierarchy->hash());
  compare.list("own patches", a.ownPatches, b.ownPatches);
  compare.list("slots of levels", a.localsOfLevel, b.localsOfLevel);
  compare.list("slots of patches", a.localOfPatch, b.localOfPatch);
  compare.list("storage", a.storage, b.storage);
  compare.list("shared windows", a.shared, b.shared);
  compare.value("plans", a.plans.size(), b.plans.size());
  for (std::size_t p = 0; p < a.plans.size() && compare.found().empty(); ++p) {
    compare.list("gathers of plan " + std::to_string(p), a.gathers[p], b.gathers[p]);
    compare.graph(a.plans[p], b.plans[p], a);
  }
  return compare.found();
}

}  // namespace tessera::fuzz
