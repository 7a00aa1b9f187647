#include "scheduler/step/reduce_nodes.hpp"

#include <algorithm>
#include <limits>

namespace tessera::detail {

bool ReduceNodes::run(const NodeAt& at, int /*worker*/) {
  join(at.item());
  if (step_.annotations) step_.annotations->departs(at.node);
  pump_.submitReduction(at.item(), at.node);
  return false;
}

void ReduceNodes::join(std::int32_t reduction) {
  const ReductionPlan& plan = graph_.reductions[static_cast<std::size_t>(reduction)];
  ReductionState& state = pump_.reductions().state(reduction);
  const double infinity = std::numeric_limits<double>::infinity();
  state = {plan.kind == ReductionKind::Min ? infinity : -infinity, {}};
  if (plan.kind == ReductionKind::Sum) {
    state.sum = frames_.sumOf(plan.reduction);
    return;
  }
  for (std::size_t from = 0; from < plan.blocks.size(); ++from) {
    const NodeBlock& block = graph_.blocks[static_cast<std::size_t>(plan.blocks[from])];
    const double factor = plan.factors.empty() ? 1.0 : plan.factors[from];
    const Range first = graph_.unitOf(block).contributions;
    const std::int64_t end = first.begin + block.count * first.size();
    for (std::int64_t n = first.begin; n < end; ++n) {
      const PatchContribution& given = frames_.contribution(n);
      if (given.reduction != plan.reduction || !given.given) continue;
      const double value = factor * given.value;
      state.value =
          plan.kind == ReductionKind::Min ? std::min(state.value, value) : std::max(state.value, value);
    }
  }
}

}  // namespace tessera::detail
