#include "taskgraph/proof/touch_proof.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "taskgraph/proof/race_allocations.hpp"

namespace tessera::detail {
namespace {

/// The axis along which the fewest boxes of touches of one memory overlap, by their mean extents.
int sweepAxis(std::span<const Touch> touches) {
  int best = 0;
  double least = 0.0;
  for (int axis = 0; axis < kAxes; ++axis) {
    std::int64_t lower = touches.front().box.lo[axis];
    std::int64_t upper = touches.front().box.hi[axis];
    double extents = 0.0;
    for (const Touch& touch : touches) {
      lower = std::min(lower, touch.box.lo[axis]);
      upper = std::max(upper, touch.box.hi[axis]);
      extents += static_cast<double>(touch.box.hi[axis] - touch.box.lo[axis]);
    }
    const double share = extents / static_cast<double>(std::max<std::int64_t>(upper - lower, 1));
    if (axis == 0 || share < least) {
      best = axis;
      least = share;
    }
  }
  return best;
}

}  // namespace

std::int64_t TouchProof::prove(std::vector<Touch> touches) {
  touches_ = std::move(touches);
  std::stable_sort(touches_.begin(), touches_.end(),
                   [](const Touch& a, const Touch& b) { return a.memory < b.memory; });
  checkMemories();
  checkRooms();
  return reportMissing();
}

void TouchProof::checkMemories() {
  for (std::size_t begin = 0; begin < touches_.size();) {
    std::size_t end = begin;
    while (end < touches_.size() && touches_[end].memory == touches_[begin].memory) ++end;
    checkMemory(begin, end);
    begin = end;
  }
}

/// Reads are compared with the writes as the nodes have them, patch by patch, which leaves the fewest pieces.
/// Pairs are looked for along a sweep: a halo of thin patches comes in hundreds of pieces, most of them
/// apart.
void TouchProof::checkMemory(std::size_t begin, std::size_t end) {
  for (std::size_t n = begin; n < end; ++n) {
    if (touches_[n].kind == TouchKind::Read) checkCovered(n, begin, end);
  }
  const std::span<Touch> touches = std::span(touches_).subspan(begin, end - begin);
  const int axis = sweepAxis(touches);
  std::ranges::stable_sort(touches, {}, [axis](const Touch& touch) { return touch.box.lo[axis]; });
  // A window has hundreds of readers, which need no order among one another.
  std::vector<std::size_t> nextWrite(touches.size(), touches.size());
  for (std::size_t n = touches.size() - 1; n > 0; --n)
    nextWrite[n - 1] = touches[n].writes() ? n : nextWrite[n];
  for (std::size_t a = 0; a < touches.size(); ++a) {
    const Touch& one = touches[a];
    const auto behind = [&](std::size_t n) { return one.writes() ? n + 1 : nextWrite[n]; };
    for (std::size_t b = behind(a); b < touches.size() && touches[b].box.lo[axis] < one.box.hi[axis];
         b = behind(b)) {
      if (touches[b].node != one.node) checkPair(begin + a, begin + b);
    }
  }
}

/// Memories of different variables in the same bytes.
void TouchProof::checkRooms() {
  for (const AllocationConflict& conflict : RaceAllocations(ranks_, plan_).conflicts(touches_, nodes_)) {
    // A node that touches both is no path from itself to itself: the two have to lie apart.
    want({conflict.first, conflict.second});
  }
}

/// Decides from the versions which of two touches of different nodes, one of them a write, has to come first.
void TouchProof::checkPair(std::size_t a, std::size_t b) {
  const Touch& one = touches_[a];
  const Touch& two = touches_[b];
  const Box overlap = intersect(one.box, two.box);
  if (overlap.empty()) return;
  if (one.writes() && two.writes() && one.version == two.version) {
    faults_.add(Message("two nodes write the same value")
                    .line("first   ", nodeName_(one.node))
                    .line("second  ", nodeName_(two.node))
                    .line("where   ", asText(overlap), " of ", memory(one.memory))
                    .text());
    return;
  }
  // A write comes before the reads of its version; everything else goes by version.
  const bool oneFirst = one.version != two.version ? one.version < two.version : one.writes();
  const Pair pair = oneFirst ? Pair{a, b} : Pair{b, a};
  const std::int64_t before = touches_[pair.first].node;
  const std::int64_t after = touches_[pair.second].node;
  if (before < 0) return;
  if (after < 0) {
    faults_.add(Message("a node writes where the step before has left a value that is still read")
                    .line("node    ", nodeName_(before))
                    .line("where   ", asText(overlap), " of ", memory(one.memory))
                    .text());
    return;
  }
  want(pair);
}

void TouchProof::want(const Pair& pair) {
  wanted_.push_back(
      {touches_[pair.first].node, touches_[pair.second].node, static_cast<std::int64_t>(pairs_.size())});
  pairs_.push_back(pair);
}

void TouchProof::checkCovered(std::size_t reader, std::size_t begin, std::size_t end) {
  const Touch& read = touches_[reader];
  std::vector<Box> left{read.box};
  for (std::size_t n = begin; n < end && !left.empty(); ++n) {
    const Touch& write = touches_[n];
    if (!write.writes() || write.version != read.version) continue;
    left = subtract(left, write.box);
  }
  if (left.empty()) return;
  faults_.add(Message("a node reads a value that no node has written")
                  .line("reader  ", nodeName_(read.node))
                  .line("where   ", asText(left.front()), " of ", memory(read.memory))
                  .line("wanted  ", read.memory.kind == Memory::Kind::Entry ||
                                            read.memory.kind == Memory::Kind::Gather ||
                                            read.memory.kind == Memory::Kind::Scratch
                                        ? names_.value(read.memory.label, read.version)
                                        : "what is there")
                  .text());
}

std::int64_t TouchProof::reportMissing() {
  // One path serves all pairs of the same two nodes.
  std::sort(wanted_.begin(), wanted_.end(), [](const WantedPath& a, const WantedPath& b) {
    return a.before != b.before ? a.before < b.before
           : a.after != b.after ? a.after < b.after
                                : a.reason < b.reason;
  });
  const auto same = [](const WantedPath& a, const WantedPath& b) {
    return a.before == b.before && a.after == b.after;
  };
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end(), same), wanted_.end());
  const auto conflicts = static_cast<std::int64_t>(wanted_.size());
  for (const WantedPath& path : nodes_.missing(wanted_)) {
    const Pair& pair = pairs_[static_cast<std::size_t>(path.reason)];
    const Touch& before = touches_[pair.first];
    const Touch& after = touches_[pair.second];
    const char* kind = !before.writes() ? "write after read"
                       : after.writes() ? "write after write"
                                        : "read after write";
    faults_.add(
        Message("two nodes that touch the same memory are not ordered")
            .line("first    ", nodeName_(before.node), before.writes() ? " writes" : " reads")
            .line("second   ", nodeName_(after.node), after.writes() ? " writes" : " reads")
            .line("where    ", before.memory == after.memory
                                   ? asText(intersect(before.box, after.box)) + " of " + memory(before.memory)
                                   : memory(before.memory) + ", whose bytes are also " + memory(after.memory))
            .line("missing  an edge, or a path, from the first to the second (", kind, ")")
            .text());
  }
  return conflicts;
}

}  // namespace tessera::detail
