#include <algorithm>

#include "taskgraph/compile/resolved_plan.hpp"

namespace tessera::detail {
namespace {

/// `before[u]`: the units that must come before unit u, each with the label that says so.
struct Dependency {
  std::int32_t before = 0;
  LabelId label = -1;
};
using Dependencies = std::vector<std::vector<Dependency>>;

Dependencies dependenciesOf(const ResolvedPlan& resolved) {
  Dependencies before(resolved.units.size());
  for (std::size_t u = 0; u < resolved.units.size(); ++u) {
    const auto self = static_cast<std::int32_t>(u);
    const auto reads = [&](LabelId label, LevelId level, std::int32_t version) {
      if (version < 0) return;
      const std::int32_t producer = resolved.producerOf(label, level, version);
      if (producer >= 0) before[u].push_back({producer, label});
      const std::int32_t changer = resolved.changerOf(label, level, version);
      if (changer >= 0 && changer != self) before[static_cast<std::size_t>(changer)].push_back({self, label});
    };
    for (const ResolvedRead& read : resolved.units[u].reads) {
      reads(read.label, read.level, read.version);
      if (read.coarseFill) reads(read.coarseLabel, read.level - 1, read.coarseVersion);
    }
    for (const ResolvedWrite& write : resolved.units[u].writes) {
      const std::int32_t producer =
          resolved.producerOf(write.label, resolved.units[u].level, write.version - 1);
      if (producer >= 0) before[u].push_back({producer, write.label});
    }
  }
  return before;
}

/// Follows "must come before" among the units that are left until one repeats; the chain is the cycle.
std::string cycleText(const ResolvedPlan& resolved, const LabelTable& labels, const Dependencies& before,
                      const std::vector<bool>& done) {
  std::int32_t at = 0;
  while (done[static_cast<std::size_t>(at)]) ++at;
  std::vector<Dependency> path;
  std::vector<std::int32_t> visited;
  while (std::find(visited.begin(), visited.end(), at) == visited.end()) {
    visited.push_back(at);
    for (const Dependency& d : before[static_cast<std::size_t>(at)]) {
      if (done[static_cast<std::size_t>(d.before)]) continue;
      path.push_back(d);
      break;
    }
    at = path.back().before;
  }
  const auto start =
      static_cast<std::size_t>(std::find(visited.begin(), visited.end(), at) - visited.begin());
  std::string text = unitName(resolved, at);
  for (std::size_t n = start; n < path.size(); ++n) {
    text += " waits for " + unitName(resolved, path[n].before) + " (" + labels.info(path[n].label).name + ")";
    if (n + 1 < path.size()) text += ", which";
  }
  return text;
}

}  // namespace

void orderUnits(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults) {
  const Dependencies before = dependenciesOf(resolved);
  std::vector<bool> done(resolved.units.size(), false);
  while (resolved.order.size() < resolved.units.size()) {
    bool progress = false;
    for (std::size_t u = 0; u < resolved.units.size() && !progress; ++u) {
      if (done[u]) continue;
      const bool ready = std::all_of(before[u].begin(), before[u].end(), [&](const Dependency& d) {
        return done[static_cast<std::size_t>(d.before)] || d.before == static_cast<std::int32_t>(u);
      });
      if (!ready) continue;
      done[u] = progress = true;
      resolved.order.push_back(static_cast<std::int32_t>(u));
    }
    if (progress) continue;
    faults.push_back(Message("tasks wait for one another in a cycle")
                         .line("plan   ", resolved.plan->name())
                         .line("cycle  ", cycleText(resolved, labels, before, done))
                         .line("fix    let one of them read Old, or an earlier value with from(\"task\")")
                         .text());
    return;
  }
}

}  // namespace tessera::detail
