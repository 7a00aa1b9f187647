#include <algorithm>
#include <set>

#include "taskgraph/detail/resolved_plan.hpp"

namespace tessera::detail {
namespace {

/// before[t]: the tasks that must come before task t, each with the label that says so.
struct Dependency {
  std::int32_t before = 0;
  LabelId label = -1;
};
using Dependencies = std::vector<std::vector<Dependency>>;

Dependencies dependenciesOf(const ResolvedPlan& resolved) {
  Dependencies before(resolved.tasks.size());
  for (std::size_t t = 0; t < resolved.tasks.size(); ++t) {
    const auto self = static_cast<std::int32_t>(t);
    for (const ResolvedRead& read : resolved.tasks[t].reads) {
      if (read.version < 0) continue;
      const auto& chain = resolved.versions.at(read.label).tasks;
      const auto v = static_cast<std::size_t>(read.version);
      before[t].push_back({chain[v], read.label});
      const bool changed = v + 1 < chain.size();
      if (changed && chain[v + 1] != self) before[static_cast<std::size_t>(chain[v + 1])].push_back({self, read.label});
    }
    for (const ResolvedWrite& write : resolved.tasks[t].writes) {
      if (write.version == 0) continue;
      const auto& chain = resolved.versions.at(write.label).tasks;
      before[t].push_back({chain[static_cast<std::size_t>(write.version - 1)], write.label});
    }
  }
  return before;
}

/// Follows "must come before" among the tasks that are left until one repeats; the chain is the cycle.
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
  const auto start = static_cast<std::size_t>(std::find(visited.begin(), visited.end(), at) - visited.begin());
  std::string text = resolved.declaration(at).name;
  for (std::size_t n = start; n < path.size(); ++n) {
    text += " waits for " + resolved.declaration(path[n].before).name + " (" + labels.info(path[n].label).name + ")";
    if (n + 1 < path.size()) text += ", which";
  }
  return text;
}

}  // namespace

void orderTasks(ResolvedPlan& resolved, const LabelTable& labels, Faults& faults) {
  const Dependencies before = dependenciesOf(resolved);
  std::vector<bool> done(resolved.tasks.size(), false);
  while (resolved.order.size() < resolved.tasks.size()) {
    bool progress = false;
    for (std::size_t t = 0; t < resolved.tasks.size(); ++t) {
      if (done[t]) continue;
      const bool ready = std::all_of(before[t].begin(), before[t].end(), [&](const Dependency& d) {
        return done[static_cast<std::size_t>(d.before)] || d.before == static_cast<std::int32_t>(t);
      });
      if (!ready) continue;
      done[t] = progress = true;
      resolved.order.push_back(static_cast<std::int32_t>(t));
      break;
    }
    if (progress) continue;
    faults.push_back(Message("tasks wait for one another in a circle")
                         .line("plan   ", resolved.plan->name())
                         .line("cycle  ", cycleText(resolved, labels, before, done))
                         .line("fix    let one of them read Old, or an earlier value with from(\"task\")")
                         .text());
    return;
  }
}

}  // namespace tessera::detail
