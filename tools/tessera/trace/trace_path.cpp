#include "tools/tessera/trace/trace_path.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tessera {
namespace {

const char* const kReduction = "(reduction)";
const char* const kStartedLate = "(ready, not started)";

/// A node on a rank in a run.
struct Place {
  int rank = 0;
  std::int64_t run = 0;
  const TracedNode* node = nullptr;
};

/// Walks the path from the end of the trace to its begin. Time only goes back on the way: what is said to
/// have happened later than a place that the path has reached, takes none.
class PathWalk {
 public:
  explicit PathWalk(const TraceModel& trace) : trace_(trace) {
    for (const auto& [rank, part] : trace.ranks) {
      first_ = std::min(first_, part.runs.begin()->second.begin);
      for (const auto& [number, run] : part.runs) noteRun(rank, number, run);
    }
  }

  std::map<std::string, std::int64_t> walk() {
    if (trace_.ranks.empty()) return {};
    const auto last =
        std::max_element(trace_.ranks.begin(), trace_.ranks.end(),
                         [](const auto& a, const auto& b) { return endOf(a.second) < endOf(b.second); });
    until_ = endOf(last->second);
    at_ = {last->first, last->second.runs.rbegin()->first, nullptr};
    goesOn_ = true;
    fromEnd();
    // No place is passed twice, unless the file says that nodes wait in a cycle.
    for (; goesOn_ && stepsLeft_ > 0; --stepsLeft_) {
      if (at_.node != nullptr) {
        fromNode();
      } else {
        fromBegin();
      }
    }
    return std::move(times_);
  }

 private:
  using RunAndItem = std::pair<std::int64_t, std::int64_t>;

  static std::int64_t endOf(const TracedRank& rank) { return rank.runs.rbegin()->second.end; }

  void noteRun(int rank, std::int64_t number, const TracedRun& run) {
    const auto begin = lastToBegin_.try_emplace(number, rank).first;
    if (run.begin > trace_.ranks.at(begin->second).runs.at(number).begin) begin->second = rank;
    stepsLeft_ += run.nodes.size() + 2;
    for (const auto& [id, node] : run.nodes) {
      if (node.kind == TraceKind::Send) sends_[{number, rank, node.peer, node.tag}] = &node;
      if (node.kind != TraceKind::Reduce) continue;
      const auto last = lastToJoin_.try_emplace({number, node.item}, Place{rank, number, &node}).first;
      if (node.end > last->second.node->end) last->second = {rank, number, &node};
    }
  }

  const TracedRank& rank() const { return trace_.ranks.at(at_.rank); }
  const TracedRun& run() const { return rank().runs.at(at_.run); }

  /// Time down to `from` was spent on `name`.
  void spend(const std::string& name, std::int64_t from) {
    from = std::max(from, first_);
    if (from >= until_) return;
    times_[name] += until_ - from;
    until_ = from;
  }

  /// From the end of a run to the node that it waited for; to the begin of the run where there is none.
  void fromEnd() {
    const TracedRun& mine = run();
    // What all ranks combine with a step is there when the last of them has begun it.
    const int lastRank = lastToBegin_.at(at_.run);
    const std::int64_t lastBegin = trace_.ranks.at(lastRank).runs.at(at_.run).begin;
    spend(kReduction, std::max(mine.executed, lastBegin));
    at_.node = nullptr;
    if (lastBegin > mine.executed) {
      at_.rank = lastRank;
      return;
    }
    // A reduction that is complete only beside the next step was not waited for.
    for (const auto& [id, node] : mine.nodes) {
      const bool waitedFor = node.done <= mine.executed;
      if (waitedFor && (at_.node == nullptr || node.done > at_.node->done)) at_.node = &node;
    }
    if (at_.node != nullptr) spend(kStartedLate, at_.node->done);
  }

  /// From a node's completion to what it waited for.
  void fromNode() {
    if (at_.node->kind == TraceKind::Receive) {
      fromReceive();
    } else if (at_.node->kind == TraceKind::Reduce) {
      const Place last = lastToJoin_.at({at_.run, at_.node->item});
      spend(kReduction, last.node->end);
      at_ = last;
    } else if (at_.node->kind == TraceKind::Send) {
      spend("(message)", at_.node->end);
    }
    const TracedNode& node = *at_.node;
    if (node.worker >= 0) spend(node.name, node.begin);
    spend(kStartedLate, node.ready);
    if (node.after == -2 && toLengthOfStep()) return;
    const auto before = run().nodes.find(node.after);
    at_.node = before == run().nodes.end() ? nullptr : &before->second;
  }

  void fromReceive() {
    const TracedNode& receive = *at_.node;
    const auto send = sends_.find({at_.run, receive.peer, at_.rank, receive.tag});
    if (send == sends_.end() || send->second->end <= receive.begin) return spend("(message)", receive.begin);
    spend("(message)", send->second->end);
    at_ = {receive.peer, at_.run, send->second};
  }

  /// To the reduction of an earlier run that was the last to be there before the node was ready.
  bool toLengthOfStep() {
    const auto& runs = rank().runs;
    Place found = at_;
    found.node = nullptr;
    for (auto before = runs.find(at_.run); before != runs.begin();) {
      --before;
      for (const auto& [id, node] : before->second.nodes) {
        if (node.kind != TraceKind::Reduce || node.done > at_.node->ready) continue;
        if (found.node == nullptr || node.done > found.node->done) found = {at_.rank, before->first, &node};
      }
      if (before->second.plan == run().plan) break;
    }
    if (found.node != nullptr) at_ = found;
    return found.node != nullptr;
  }

  /// From the begin of a run to the end of the one before on the same rank.
  void fromBegin() {
    const std::int64_t begin = run().begin;
    spend("(between steps)", begin);
    const auto now = rank().runs.find(at_.run);
    goesOn_ = now != rank().runs.begin();
    if (!goesOn_) return;
    const auto before = std::prev(now);
    if (toReductionSeenSince(before->second.end)) return;
    spendOnOutput(before->second.end);
    spend("(between steps)", before->second.end);
    at_.run = before->first;
    fromEnd();
  }

  /// Between steps a reduction is looked after by the one who waits for it. So where one was seen to be there
  /// after the last output, it was waited for, and the path goes to the last rank that joined it, unless that
  /// one had done so before.
  bool toReductionSeenSince(std::int64_t end) {
    const auto& runs = rank().runs;
    std::int64_t waitFrom = end;
    for (const TracedSpan& span : rank().spans) {
      if (span.begin < until_) waitFrom = std::max(waitFrom, std::min(span.end, until_));
    }
    Place seen = at_;
    auto before = runs.find(at_.run);
    // A run waits for the one before last at the most.
    for (int back = 0; back < 3 && before != runs.begin(); ++back) {
      --before;
      for (const auto& [id, node] : before->second.nodes) {
        if (node.kind != TraceKind::Reduce || node.done <= waitFrom || node.done > until_) continue;
        if (seen.node == nullptr || node.done > seen.node->done) seen = {at_.rank, before->first, &node};
      }
    }
    if (seen.node == nullptr) return false;
    spend("(between steps)", seen.node->done);
    const bool toOther = lastToJoin_.at({seen.run, seen.node->item}).node->end > waitFrom;
    if (toOther) {
      at_ = seen;
    } else {
      spend(kReduction, waitFrom);
    }
    return toOther;
  }

  /// The part of the time down to `from` that the rank wrote in.
  void spendOnOutput(std::int64_t from) {
    std::int64_t writing = 0;
    std::int64_t counted = from;
    for (const TracedSpan& span : rank().spans) {  // by begin; what lies inside another counts once
      const std::int64_t begin = std::max(span.begin, counted);
      const std::int64_t end = std::min(span.end, until_);
      if (end <= begin) continue;
      writing += end - begin;
      counted = end;
    }
    spend("(output)", until_ - writing);
  }

  const TraceModel& trace_;
  std::map<std::string, std::int64_t> times_;
  /// By run, sender, receiver and tag.
  std::map<std::tuple<std::int64_t, int, int, std::int64_t>, const TracedNode*> sends_;
  std::map<RunAndItem, Place> lastToJoin_;
  std::map<std::int64_t, int> lastToBegin_;  ///< rank, by run
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t until_ = 0;
  std::size_t stepsLeft_ = 0;
  Place at_;  ///< without a node: the begin of the run
  bool goesOn_ = false;
};

}  // namespace

std::map<std::string, std::int64_t> criticalPath(const TraceModel& trace) { return PathWalk(trace).walk(); }

}  // namespace tessera
