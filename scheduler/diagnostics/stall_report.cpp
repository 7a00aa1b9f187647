#include "scheduler/diagnostics/stall_report.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

namespace tessera::detail {
namespace {

constexpr std::size_t kLinesOfAKind = 12;

class Page {
 public:
  Page(const NodeSource& source, const StalledReplay& replay)
      : source_(source), replay_(replay), predecessors_(replay.stands.size()) {
    for (const NodeId n : replay_.stands.ids()) {
      if (stand(n) == NodeStand::Unused) continue;
      for (const NodeId next : source.successors(n)) predecessors_[next].push_back(n);
    }
  }

  std::string text(std::optional<double> seconds) {
    const auto waiting = std::count_if(replay_.stands.begin(), replay_.stands.end(), [](NodeStand s) {
      return s == NodeStand::Waits || s == NodeStand::Ready || s == NodeStand::Begun;
    });
    const auto used = count() - std::count(replay_.stands.begin(), replay_.stands.end(), NodeStand::Unused);
    out_ << "no progress";
    if (seconds) out_ << " for " << *seconds << " s";
    out_ << ", and " << waiting << " of the " << used << " nodes of this step have not finished";
    listBegun();
    list("is ready, but no worker runs it",
         nodesThat([&](NodeId n) { return stand(n) == NodeStand::Ready; }));
    list("waits, although all its predecessors have finished (a lost wake-up: a bug in Tessera)",
         nodesThat([&](NodeId n) { return stand(n) == NodeStand::Waits && !hasOpenPredecessor(n); }));
    listBlocked();
    listCycle();
    if (!seconds) return out_.str();
    out_ << "\n  fix  if a rank is named here, look at its message; if a step may take longer, raise "
            "--watchdog "
            "SECONDS";
    return out_.str();
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(replay_.stands.size()); }
  NodeStand stand(NodeId n) const { return replay_.stands[n]; }
  bool isOpen(NodeId n) const { return stand(n) != NodeStand::Done && stand(n) != NodeStand::Unused; }
  bool hasOpenPredecessor(NodeId n) const {
    const auto& before = predecessors_[n];
    return std::any_of(before.begin(), before.end(), [&](NodeId p) { return isOpen(p); });
  }

  template <class Which>
  std::vector<NodeId> nodesThat(const Which& which) const {
    std::vector<NodeId> found;
    for (const NodeId n : replay_.stands.ids()) {
      if (which(n)) found.push_back(n);
    }
    return found;
  }

  void list(const char* what, const std::vector<NodeId>& nodes) {
    for (std::size_t n = 0; n < std::min(nodes.size(), kLinesOfAKind); ++n) {
      out_ << "\n  " << source_.describe(nodes[n]) << " " << what;
    }
    more(nodes.size());
  }

  void listBegun() {
    const auto begun = nodesThat([&](NodeId n) { return stand(n) == NodeStand::Begun; });
    for (std::size_t n = 0; n < std::min(begun.size(), kLinesOfAKind); ++n) {
      out_ << "\n  " << source_.describe(begun[n]) << " " << source_.waitsFor(begun[n]);
    }
    more(begun.size());
  }

  void more(std::size_t lines) {
    if (lines > kLinesOfAKind) out_ << "\n  and " << lines - kLinesOfAKind << " more like this";
  }

  /// The first of each chain: what they wait for is not itself waiting for a task.
  void listBlocked() {
    const auto blocked = nodesThat([&](NodeId n) {
      if (stand(n) != NodeStand::Waits) return false;
      const auto& before = predecessors_[n];
      return std::any_of(before.begin(), before.end(), [&](NodeId p) {
        return stand(p) == NodeStand::Begun || stand(p) == NodeStand::Ready;
      });
    });
    for (std::size_t b = 0; b < std::min(blocked.size(), kLinesOfAKind); ++b) {
      const auto& before = predecessors_[blocked[b]];
      const auto open = std::find_if(before.begin(), before.end(), [&](NodeId p) { return isOpen(p); });
      out_ << "\n  " << source_.describe(blocked[b]) << " waits for " << replay_.missing[blocked[b]] << " of "
           << before.size() << " predecessors, among them " << source_.describe(*open);
    }
    more(blocked.size());
  }

  /// Goes back from each waiting node through all waiting predecessors, depth first: one that is met again on
  /// the way that led to it closes a cycle.
  void listCycle() {
    struct Stop {
      NodeId node;
      std::size_t next;  ///< predecessor to go to
    };
    enum class Visit : std::uint8_t { Never, OnTheWay, Ended };
    IdVector<NodeId, Visit> visits(replay_.stands.size(), Visit::Never);
    for (const NodeId start : replay_.stands.ids()) {
      if (stand(start) != NodeStand::Waits || visits[start] != Visit::Never) continue;
      std::vector<Stop> way{{start, 0}};
      visits[start] = Visit::OnTheWay;
      while (!way.empty()) {
        const auto& before = predecessors_[way.back().node];
        if (way.back().next == before.size()) {
          visits[way.back().node] = Visit::Ended;
          way.pop_back();
          continue;
        }
        const NodeId p = before[way.back().next++];
        if (stand(p) != NodeStand::Waits || visits[p] == Visit::Ended) continue;
        if (visits[p] == Visit::OnTheWay) {
          std::vector<NodeId> cycle;
          for (const Stop& stop : way) cycle.push_back(stop.node);
          cycle.erase(cycle.begin(), std::find(cycle.begin(), cycle.end(), p));
          return tellCycle(cycle);
        }
        visits[p] = Visit::OnTheWay;
        way.push_back({p, 0});
      }
    }
  }

  /// Each waits for the next one, and the last for the first.
  void tellCycle(const std::vector<NodeId>& cycle) {
    out_ << "\n  a deadlock, each node waits for the next: ";
    for (std::size_t n = 0; n < std::min(cycle.size(), kLinesOfAKind); ++n) {
      out_ << (n == 0 ? "" : ", ") << source_.describe(cycle[n]);
    }
    out_ << (cycle.size() <= kLinesOfAKind ? ", the first again" : ", ...");
  }

  const NodeSource& source_;
  const StalledReplay& replay_;
  IdVector<NodeId, std::vector<NodeId>> predecessors_;
  std::ostringstream out_;
};

}  // namespace

StalledReplay standOf(NodeSource& source, const IdVector<NodeId, std::int32_t>& left,
                      std::span<const NodeId> ready) {
  StalledReplay found{IdVector<NodeId, NodeStand>(left.size(), NodeStand::Unused), left};
  for (const NodeId n : source.nodes()) {
    if (!source.traits(n, 1).used) continue;
    found.stands[n] = left[n] > 0 ? NodeStand::Waits : NodeStand::Done;
  }
  for (const NodeId n : ready) found.stands[n] = NodeStand::Ready;
  for (const NodeId n : source.begun()) found.stands[n] = NodeStand::Begun;
  return found;
}

std::string stallReport(const NodeSource& source, const StalledReplay& replay,
                        std::optional<double> seconds) {
  return Page(source, replay).text(seconds);
}

std::string rankCycle(const std::vector<RankWait>& waits) {
  // Rank by rank, the waits to follow; a handful of ranks, so plainly.
  std::vector<std::size_t> way;
  std::vector<char> ended(waits.size(), 0);
  const std::function<bool(std::size_t)> follow = [&](std::size_t wait) {
    const auto again = std::find_if(way.begin(), way.end(),
                                    [&](std::size_t w) { return waits[w].rank == waits[wait].rank; });
    if (again != way.end()) {
      way.erase(way.begin(), again);
      return true;
    }
    if (ended[wait] != 0) return false;
    ended[wait] = 1;
    way.push_back(wait);
    for (std::size_t next = 0; next < waits.size(); ++next) {
      if (waits[next].rank == waits[wait].waitsFor && follow(next)) return true;
    }
    way.pop_back();
    return false;
  };
  for (std::size_t wait = 0; wait < waits.size(); ++wait) {
    way.clear();
    if (!follow(wait)) continue;
    std::ostringstream text;
    text << "these ranks are in a deadlock:";
    for (const std::size_t w : way) {
      text << " rank " << waits[w].rank << " waits for rank " << waits[w].waitsFor << " (" << waits[w].what
           << ")" << (w == way.back() ? "" : ",");
    }
    return text.str();
  }
  return {};
}

}  // namespace tessera::detail
