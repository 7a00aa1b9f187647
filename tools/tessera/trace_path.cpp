#include "tools/tessera/trace_path.hpp"

#include <algorithm>
#include <tuple>

namespace tessera {
namespace {

/// The same run on all ranks.
using RunOfRanks = std::map<int, const TracedRun*>;

/// Walks one run's path from its end to its begin.
class PathWalk {
 public:
  PathWalk(const RunOfRanks& run, std::map<std::string, std::int64_t>& times) : run_(run), times_(times) {
    for (const auto& [rank, part] : run) {
      stepsLeft_ += part->nodes.size();
      for (const auto& [id, node] : part->nodes) {
        if (node.kind == TraceKind::Send) sends_[{rank, node.peer, node.tag}] = &node;
        if (node.kind == TraceKind::Reduce) noteReduction(rank, node);
      }
    }
  }

  void walk() {
    for (const auto& [rank, part] : run_) {
      for (const auto& [id, node] : part->nodes) {
        if (at_ != nullptr && node.done <= at_->done) continue;
        at_ = &node;
        rank_ = rank;
      }
    }
    if (at_ == nullptr) return;
    until_ = at_->done;
    // No node is passed twice, unless the file says that nodes wait in a circle.
    for (; at_ != nullptr && stepsLeft_ > 0; --stepsLeft_) stepBack();
  }

 private:
  struct Last {
    int rank = 0;
    const TracedNode* node = nullptr;
  };

  void noteReduction(int rank, const TracedNode& node) {
    Last& last = lastToJoin_[node.item];
    if (last.node == nullptr || node.end > last.node->end) last = {rank, &node};
  }

  /// Time down to `from` was spent on `name`.
  void spend(const std::string& name, std::int64_t from) {
    if (from >= until_) return;
    times_[name] += until_ - from;
    until_ = from;
  }

  /// From the node's completion to the node that it waited for.
  void stepBack() {
    if (at_->kind == TraceKind::Receive) {
      const auto send = sends_.find({at_->peer, rank_, at_->tag});
      if (send != sends_.end() && send->second->end > at_->begin) {
        spend("(message)", send->second->end);
        rank_ = at_->peer;
        at_ = send->second;
      } else {
        spend("(message)", at_->begin);
      }
    } else if (at_->kind == TraceKind::Reduce) {
      const Last last = lastToJoin_[at_->item];
      spend("(reduction)", last.node->end);
      rank_ = last.rank;
      at_ = last.node;
    } else if (at_->kind == TraceKind::Send) {
      spend("(message)", at_->end);
    }
    if (at_->worker >= 0) spend(at_->name, at_->begin);
    spend("(ready, not started)", at_->ready);
    const auto& nodes = run_.at(rank_)->nodes;
    const auto before = nodes.find(at_->after);
    at_ = before == nodes.end() ? nullptr : &before->second;
  }

  const RunOfRanks& run_;
  std::map<std::string, std::int64_t>& times_;
  std::map<std::tuple<int, int, std::int64_t>, const TracedNode*> sends_;  ///< by sender, receiver, tag
  std::map<std::int64_t, Last> lastToJoin_;                                ///< by reduction
  std::size_t stepsLeft_ = 0;
  const TracedNode* at_ = nullptr;
  int rank_ = 0;
  std::int64_t until_ = 0;
};

}  // namespace

std::map<std::string, std::int64_t> criticalPath(const TraceModel& trace) {
  std::map<std::int64_t, RunOfRanks> runs;
  for (const auto& [number, rank] : trace.ranks) {
    for (const auto& [run, part] : rank.runs) runs[run][number] = &part;
  }
  std::map<std::string, std::int64_t> times;
  for (const auto& [number, run] : runs) PathWalk(run, times).walk();
  return times;
}

}  // namespace tessera
