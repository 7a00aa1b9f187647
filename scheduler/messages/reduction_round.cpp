#include "scheduler/messages/reduction_round.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"

namespace tessera::detail {

ReductionRound::ReductionRound(const CompiledGraph& graph, Transport& transport, Trace* trace)
    : graph_(graph),
      transport_(transport),
      trace_(trace),
      states_(graph.reductions.size()),
      nodes_(graph.reductions.size()) {
  pending_.reserve(states_.size());
  found_.reserve(states_.size());
}

void ReductionRound::begin() {
  std::fill(nodes_.begin(), nodes_.end(), NodeId());
  next_ = 0;
  done_ = 0;
  pending_.clear();
  times_ = trace_ == nullptr ? nullptr : trace_->nodes();
}

void ReductionRound::add(std::int32_t reduction, NodeId node) {
  nodes_[static_cast<std::size_t>(reduction)] = node;
}

std::span<const std::int32_t> ReductionRound::start() {
  found_.clear();
  for (; next_ < nodes_.size() && nodes_[next_].isSome(); ++next_) {
    const auto reduction = static_cast<std::int32_t>(next_);
    pending_.push_back({startOne(reduction), reduction});
    found_.push_back(reduction);
  }
  return found_;
}

Transport::Request ReductionRound::startOne(std::int32_t reduction) {
  ReductionState& given = state(reduction);
  switch (graph_.reductions[static_cast<std::size_t>(reduction)].kind) {
    case ReductionKind::Min:
      return transport_.allReduceMin({&given.value, 1});
    case ReductionKind::Max:
      return transport_.allReduceMax({&given.value, 1});
    case ReductionKind::Sum:
      return transport_.allReduceSum(given.sum.words());
  }
  return 0;
}

std::span<const std::int32_t> ReductionRound::test() {
  found_.clear();
  std::erase_if(pending_, [this](const Pending& p) {
    if (!transport_.test(p.request)) return false;
    if (trace_ != nullptr) times_[nodeOf(p.reduction).index()].done = trace_->now();
    found_.push_back(p.reduction);
    ++done_;
    return true;
  });
  return found_;
}

void ReductionRound::appendOpenNodes(std::vector<NodeId>& nodes) const {
  for (const Pending& p : pending_) nodes.push_back(nodeOf(p.reduction));
  for (std::size_t n = next_; n < nodes_.size(); ++n) {
    if (nodes_[n].isSome()) nodes.push_back(nodes_[n]);
  }
}

void ReductionRound::takeResults(std::span<double> byLabel) const {
  TESSERA_EXPECT(complete(), "wait for the reductions first");
  for (std::size_t r = 0; r < states_.size(); ++r) {
    const ReductionPlan& plan = graph_.reductions[r];
    byLabel[static_cast<std::size_t>(plan.reduction)] =
        plan.kind == ReductionKind::Sum ? states_[r].sum.value() : states_[r].value;
  }
}

}  // namespace tessera::detail
