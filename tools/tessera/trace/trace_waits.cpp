#include "tools/tessera/trace/trace_waits.hpp"

#include <algorithm>

namespace tessera {
namespace {

const char* const kLate = "ready, not started";

/// Adds one rank's time up.
class RankTimes {
 public:
  RankTimes(const TracedRank& rank, std::map<std::string, std::int64_t>& times)
      : rank_(rank), times_(times) {}

  void add() {
    const TracedRun* before = nullptr;
    for (const auto& [number, run] : rank_.runs) {
      if (before != nullptr) addBetween(before->end, run.begin, run.workers);
      addRun(run);
      before = &run;
    }
  }

 private:
  static const char* workName(TraceKind kind) {
    if (kind == TraceKind::Task) return "tasks";
    return kind == TraceKind::Fill ? "halos" : "packing and joining";
  }

  /// What a worker waits for that waits for `node`.
  static const char* waitName(const TracedNode* node) {
    if (node != nullptr && node->onDevice) return "waits: device";
    if (node == nullptr || node->kind == TraceKind::Task || node->kind == TraceKind::Fill) {
      return "waits: nothing ready";
    }
    return node->kind == TraceKind::Reduce ? "waits: reduction" : "waits: message";
  }

  static const TracedNode* find(const TracedRun& run, std::int32_t node) {
    const auto at = run.nodes.find(node);
    return at == run.nodes.end() ? nullptr : &at->second;
  }

  void spend(const char* name, std::int64_t from, std::int64_t to) {
    if (to > from) times_[name] += to - from;
  }

  void addRun(const TracedRun& run) {
    std::vector<std::vector<const TracedNode*>> byWorker(static_cast<std::size_t>(run.workers));
    const TracedNode* last = nullptr;
    for (const auto& [id, node] : run.nodes) {
      // A reduction that is complete only beside the next step was not waited for.
      const bool waitedFor = node.done <= run.executed;
      if (waitedFor && (last == nullptr || node.done > last->done)) last = &node;
      if (node.worker >= 0 && node.worker < run.workers) {
        byWorker[static_cast<std::size_t>(node.worker)].push_back(&node);
      }
    }
    for (auto& nodes : byWorker) addWorker(run, nodes, last);
  }

  void addWorker(const TracedRun& run, std::vector<const TracedNode*>& nodes, const TracedNode* last) {
    std::sort(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
    std::int64_t freeFrom = run.begin;
    for (const TracedNode* node : nodes) {
      const std::int64_t ready = std::clamp(node->ready, freeFrom, std::max(freeFrom, node->begin));
      const bool afterDt = node->after == -2;
      spend(afterDt ? "waits: reduction" : waitName(find(run, node->after)), freeFrom, ready);
      spend(kLate, ready, node->begin);
      spend(workName(node->kind), node->begin, node->end);
      freeFrom = std::max(freeFrom, node->end);
    }
    const std::int64_t complete = last == nullptr ? freeFrom : std::clamp(last->done, freeFrom, run.executed);
    spend(waitName(last), freeFrom, complete);
    spend(kLate, complete, run.executed);
    // The numbers that all ranks combine with a step.
    spend("waits: reduction", std::max(freeFrom, run.executed), run.end);
  }

  void addBetween(std::int64_t from, std::int64_t to, int workers) {
    std::int64_t writing = 0;
    std::int64_t counted = from;
    for (const TracedSpan& span : rank_.spans) {  // by begin; what lies inside another counts once
      const std::int64_t begin = std::max(span.begin, counted);
      const std::int64_t end = std::min(span.end, to);
      if (end <= begin) continue;
      writing += end - begin;
      counted = end;
    }
    times_["waits: output"] += writing * workers;
    times_["between steps"] += (to - from - writing) * workers;
  }

  const TracedRank& rank_;
  std::map<std::string, std::int64_t>& times_;
};

}  // namespace

std::map<std::string, std::int64_t> workerTimes(const TraceModel& trace) {
  std::map<std::string, std::int64_t> times;
  for (const auto& [number, rank] : trace.ranks) RankTimes(rank, times).add();
  return times;
}

}  // namespace tessera
