#include "taskgraph/compile/lifetimes.hpp"

#include <algorithm>

namespace tessera::detail {

Lifetimes::Lifetimes(const ResolvedPlan& plan, std::span<const FillNeed> fills)
    : plan_(plan), fills_(fills), positionOf_(plan.units.size(), 0) {
  for (std::size_t n = 0; n < plan.order.size(); ++n)
    positionOf_[static_cast<std::size_t>(plan.order[n])] = n;
  for (const FillNeed& need : fills) stages_.push_back(stageOf(need));
}

std::size_t Lifetimes::stageOf(const FillNeed& need) const {
  std::size_t stage = 0;
  const auto after = [&](LabelId label, LevelId level, std::int32_t version) {
    const std::int32_t producer = plan_.producerOf(label, level, version);
    if (producer >= 0) stage = std::max(stage, positionOf_[static_cast<std::size_t>(producer)] + 1);
  };
  after(need.label, need.level, need.version);
  if (need.coarseFill) after(need.coarseLabel, need.level - 1, need.coarseVersion);
  return stage;
}

Lifetime Lifetimes::ofValue(const LevelLabel& what) const {
  const std::vector<std::int32_t>& chain = plan_.versions.at(what);
  const std::size_t first = chain.front() < 0 ? 0 : momentOf(static_cast<std::size_t>(chain.front()));
  Lifetime life{first, first};
  for (const std::int32_t unit : chain)
    if (unit >= 0) life.last = std::max(life.last, momentOf(static_cast<std::size_t>(unit)));
  for (std::size_t u = 0; u < plan_.units.size(); ++u) {
    for (const ResolvedRead& read : plan_.units[u].reads) {
      const bool here = read.label == what.label && read.level == what.level && read.version >= 0;
      if (here && read.reach == Reach::Patch) life.last = std::max(life.last, momentOf(u));
    }
  }
  for (std::size_t f = 0; f < fills_.size(); ++f) {
    const FillNeed& need = fills_[f];
    const bool source = need.label == what.label && need.level == what.level && need.version >= 0;
    const bool below = need.coarseFill && need.coarseLabel == what.label && need.level - 1 == what.level &&
                       need.coarseVersion >= 0;
    if (source || below) life.last = std::max(life.last, 2 * stages_[f]);
  }
  return life;
}

Lifetime Lifetimes::ofGather(std::size_t fill) const {
  const std::size_t filled = 2 * stages_[fill];
  Lifetime life{filled, filled};
  for (std::size_t u = 0; u < plan_.units.size(); ++u) {
    for (const ResolvedRead& read : plan_.units[u].reads) {
      if (serves(fills_[fill], plan_.units[u], read)) life.last = std::max(life.last, momentOf(u));
    }
  }
  return life;
}

}  // namespace tessera::detail
