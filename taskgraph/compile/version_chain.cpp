#include "taskgraph/compile/version_chain.hpp"

namespace tessera::detail {

VersionChain::VersionChain(const ResolvedPlan& plan, const std::string& label, LevelLabel where,
                           Faults& faults)
    : plan_(plan), label_(label), faults_(faults) {
  for (std::size_t u = 0; u < plan.units.size(); ++u) {
    if (plan.units[u].level != where.level) continue;
    const auto unit = static_cast<std::int32_t>(u);
    for (const WriteDeclaration& write : task(unit).writes) {
      if (write.label == where.label) (write.modifies ? modifiers_ : writers_).push_back({unit, write.from});
    }
  }
}

std::vector<std::int32_t> VersionChain::resolve() {
  std::vector<std::int32_t> chain;
  if (!hasOneWriter()) return chain;
  chain.push_back(writers_.front().unit);
  std::vector<Link> left = modifiers_;
  while (!left.empty()) {
    const auto next = nextAfter(chain.back(), left);
    if (next == left.end()) return chain;
    chain.push_back(next->unit);
    left.erase(next);
  }
  return chain;
}

bool VersionChain::hasOneWriter() {
  if (writers_.size() == 1) return true;
  if (writers_.empty()) {
    const TaskDeclaration& first = task(modifiers_.front().unit);
    faults_.push_back(
        Message("a label is modified, but no task writes it in this plan")
            .line("plan   ", plan_.plan->name())
            .line("label  ", label_)
            .line("task   ", unitName(plan_, modifiers_.front().unit), " at ", placeOf(first))
            .line("fix    use .writes(", label_, ") in it, or add the task that writes the label first")
            .text());
    return false;
  }
  Message message("two tasks write one label");
  message.line("plan   ", plan_.plan->name()).line("label  ", label_);
  for (const Link& w : writers_)
    message.line("task   ", unitName(plan_, w.unit), " at ", placeOf(task(w.unit)));
  message.line("fix    keep one .writes(", label_, "); let the others use .modifies(", label_, ", from(\"",
               task(writers_.front().unit).name, "\"))");
  faults_.push_back(message.text());
  return false;
}

std::vector<VersionChain::Link>::iterator VersionChain::nextAfter(std::int32_t current,
                                                                  std::vector<Link>& left) {
  const std::string& name = task(current).name;
  const bool first = current == writers_.front().unit;
  auto found = left.end();
  std::vector<Link> candidates;
  for (auto at = left.begin(); at != left.end(); ++at) {
    if (at->from != name && !(at->from.empty() && (first || left.size() == 1))) continue;
    candidates.push_back(*at);
    found = at;
  }
  if (candidates.size() == 1) return found;
  faultOrder(current, left, candidates);
  return left.end();
}

void VersionChain::faultOrder(std::int32_t current, const std::vector<Link>& left,
                              const std::vector<Link>& candidates) {
  const bool none = candidates.empty();
  Message message(none ? "a modification follows no task that changes the label"
                       : "the order of two modifications is not settled");
  message.line("plan   ", plan_.plan->name()).line("label  ", label_);
  for (const Link& m : none ? left : candidates) {
    message.line("task   ", unitName(plan_, m.unit), " at ", placeOf(task(m.unit)),
                 m.from.empty() ? "" : ", from(\"" + m.from + "\")");
  }
  if (none) {
    message.line("fix    name the task whose value it changes: .modifies(", label_, ", from(\"",
                 task(current).name, "\"))");
  } else {
    message.line("fix    say in one of them which value it changes: .modifies(", label_, ", from(\"",
                 task(candidates.front().unit).name, "\"))");
  }
  faults_.push_back(message.text());
}

}  // namespace tessera::detail
