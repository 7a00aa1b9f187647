#include "scheduler/detail/stall_page.hpp"

#include <algorithm>
#include <sstream>

namespace tessera::detail {
namespace {

constexpr std::size_t kLinesOfAKind = 12;

template <class List>
decltype(auto) at(List& list, std::int32_t n) {
  return list[static_cast<std::size_t>(n)];
}

class Page {
 public:
  Page(const NodeSource& source, const StalledReplay& replay)
      : source_(source), replay_(replay), predecessors_(replay.stands.size()) {
    for (std::int32_t n = 0; n < count(); ++n) {
      if (stand(n) == NodeStand::Unused) continue;
      for (const std::int32_t next : source.successors(n)) at(predecessors_, next).push_back(n);
    }
  }

  std::string text(double seconds) {
    const auto waiting = std::count_if(replay_.stands.begin(), replay_.stands.end(), [](NodeStand s) {
      return s == NodeStand::Waits || s == NodeStand::Ready || s == NodeStand::Begun;
    });
    const auto used = count() - std::count(replay_.stands.begin(), replay_.stands.end(), NodeStand::Unused);
    out_ << "nothing has got on for " << seconds << " s, and " << waiting << " of the " << used
         << " nodes of this step have not ended";
    list("waits for another rank", nodesThat([&](std::int32_t n) { return stand(n) == NodeStand::Begun; }));
    list("is ready, but nobody runs it",
         nodesThat([&](std::int32_t n) { return stand(n) == NodeStand::Ready; }));
    list("waits, although all before it has ended (a lost wake-up: a fault of Tessera)",
         nodesThat([&](std::int32_t n) { return stand(n) == NodeStand::Waits && !hasOpenPredecessor(n); }));
    listBlocked();
    listCircle();
    out_ << "\n  fix  where a rank is named, see what it says; a step that may take longer needs --watchdog "
            "SECONDS";
    return out_.str();
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(replay_.stands.size()); }
  NodeStand stand(std::int32_t n) const { return at(replay_.stands, n); }
  bool isOpen(std::int32_t n) const { return stand(n) != NodeStand::Done && stand(n) != NodeStand::Unused; }
  bool hasOpenPredecessor(std::int32_t n) const {
    const auto& before = at(predecessors_, n);
    return std::any_of(before.begin(), before.end(), [&](std::int32_t p) { return isOpen(p); });
  }

  template <class Which>
  std::vector<std::int32_t> nodesThat(const Which& which) const {
    std::vector<std::int32_t> found;
    for (std::int32_t n = 0; n < count(); ++n) {
      if (which(n)) found.push_back(n);
    }
    return found;
  }

  void list(const char* what, const std::vector<std::int32_t>& nodes) {
    for (std::size_t n = 0; n < std::min(nodes.size(), kLinesOfAKind); ++n) {
      out_ << "\n  " << source_.describe(nodes[n]) << " " << what;
    }
    more(nodes.size());
  }

  void more(std::size_t lines) {
    if (lines > kLinesOfAKind) out_ << "\n  and " << lines - kLinesOfAKind << " more like this";
  }

  /// The first of each chain: what they wait for is not itself waiting for a task.
  void listBlocked() {
    const auto blocked = nodesThat([&](std::int32_t n) {
      if (stand(n) != NodeStand::Waits) return false;
      const auto& before = at(predecessors_, n);
      return std::any_of(before.begin(), before.end(), [&](std::int32_t p) {
        return stand(p) == NodeStand::Begun || stand(p) == NodeStand::Ready;
      });
    });
    for (std::size_t b = 0; b < std::min(blocked.size(), kLinesOfAKind); ++b) {
      const auto& before = at(predecessors_, blocked[b]);
      const auto open = std::find_if(before.begin(), before.end(), [&](std::int32_t p) { return isOpen(p); });
      out_ << "\n  " << source_.describe(blocked[b]) << " waits for " << at(replay_.missing, blocked[b])
           << " of " << before.size() << ", among them " << source_.describe(*open);
    }
    more(blocked.size());
  }

  /// Going back from node to open predecessor either ends, or comes to a node that was visited: a circle.
  void listCircle() {
    std::vector<std::int32_t> visitedBy(replay_.stands.size(), -1);
    for (std::int32_t start = 0; start < count(); ++start) {
      std::int32_t n = start;
      while (n >= 0 && stand(n) == NodeStand::Waits && at(visitedBy, n) < 0) {
        at(visitedBy, n) = start;
        n = openPredecessor(n);
      }
      if (n < 0 || stand(n) != NodeStand::Waits || at(visitedBy, n) != start) continue;
      out_ << "\n  these wait for each other in a circle: " << source_.describe(n);
      std::int32_t next = openPredecessor(n);
      for (std::size_t lines = 0; next != n && lines < kLinesOfAKind; ++lines, next = openPredecessor(next)) {
        out_ << ", for " << source_.describe(next);
      }
      out_ << (next == n ? ", for the first" : ", ...");
      return;
    }
  }

  std::int32_t openPredecessor(std::int32_t n) const {
    for (const std::int32_t p : at(predecessors_, n)) {
      if (stand(p) == NodeStand::Waits) return p;
    }
    return -1;
  }

  const NodeSource& source_;
  const StalledReplay& replay_;
  std::vector<std::vector<std::int32_t>> predecessors_;
  std::ostringstream out_;
};

}  // namespace

std::string stallPage(const NodeSource& source, const StalledReplay& replay, double seconds) {
  return Page(source, replay).text(seconds);
}

}  // namespace tessera::detail
