#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/diagnostics/work_names.hpp"
#include "scheduler/tracing/trace_file.hpp"

namespace tessera::detail {

/// Turns one traced step into events. Made for one plan, used for its steps one after another.
class StepEvents {
 public:
  StepEvents(const CompiledGraphs& graphs, std::size_t plan, const TraceFileOptions& options);

  /// Appends the events to `text`, in the order of their times within each lane. The numbers of the lanes
  /// that they use go to `lanes`. `freeFrom` says for lanes of messages and reductions, which may go on
  /// beyond the end of a step, where the last slice of all steps so far ends; it is kept up.
  void append(const TracedStep& step, std::string& text, std::set<std::int32_t>& lanes,
              std::map<std::int32_t, std::int64_t>& freeFrom);

 private:
  /// What a trace shows of a node: on its worker, and where the node continues without a worker.
  struct Slice {
    std::int32_t node = 0;
    std::int32_t lane = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool goesOn = false;
  };

  void findReady(const TracedStep& step);
  void cutSlices(const TracedStep& step);
  void lay(std::vector<Slice>& slices, std::int32_t firstLane);
  void appendSlice(const TracedStep& step, const Slice& slice);
  void appendWork(const TracedStep& step, const Slice& slice);
  void appendMessage(const TracedStep& step, const Slice& slice, const MessagePlan& message, bool isSend);
  void appendReduction(const TracedStep& step, const Slice& slice);
  void appendMessageArrow(const TracedStep& step, const Slice& slice);
  void appendEdge(const TracedStep& step, const Slice& slice, char phase, std::int32_t from, std::int32_t to);
  void appendEdgesInto(const TracedStep& step, const Slice& slice);
  void appendEdgesOutOf(const TracedStep& step, const Slice& slice);
  void appendHead(const TracedStep& step);
  bool goesOn(std::int32_t node) const;
  bool hasArrow(const TracedStep& step, std::int32_t from, std::int32_t to) const;

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  TraceFileOptions options_;
  WorkNames names_;
  std::string* text_ = nullptr;
  std::map<std::int32_t, std::int64_t>* freeFrom_ = nullptr;

  // State of the present step, by node.
  std::vector<std::int64_t> ready_;
  std::vector<std::int32_t> after_;                ///< the predecessor that finished last; -1: none
  std::vector<std::vector<std::int32_t>> before_;  ///< with edges: all predecessors
  std::vector<Slice> slices_;
};

}  // namespace tessera::detail
