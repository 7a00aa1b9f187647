#include <algorithm>
#include <set>

#include "taskgraph/detail/resolved_plan.hpp"

namespace tessera::detail {
namespace {

/// Finds the chain writer -> modifier -> modifier ... of one label.
class VersionChain {
 public:
  VersionChain(const StepPlan& plan, const std::string& label, LabelId id, Faults& faults)
      : plan_(plan), label_(label), faults_(faults) {
    std::int32_t number = 0;
    for (const TaskDeclaration& task : plan.tasks()) {
      for (const WriteDeclaration& write : task.writes) {
        if (write.label == id) (write.modifies ? modifiers_ : writers_).push_back({number, write.from});
      }
      ++number;
    }
  }

  LabelVersions resolve() {
    LabelVersions versions;
    if (!hasOneWriter()) return versions;
    versions.tasks.push_back(writers_.front().task);
    std::vector<Link> left = modifiers_;
    while (!left.empty()) {
      const auto next = nextAfter(versions.tasks.back(), left);
      if (next == left.end()) return versions;
      versions.tasks.push_back(next->task);
      left.erase(next);
    }
    return versions;
  }

 private:
  struct Link {
    std::int32_t task = 0;
    std::string from;
  };

  const TaskDeclaration& task(std::int32_t n) const { return plan_.tasks()[static_cast<std::size_t>(n)]; }

  bool hasOneWriter() {
    if (writers_.size() == 1) return true;
    if (writers_.empty()) {
      faults_.push_back(Message("a label is modified but nobody writes it in this plan")
                            .line("plan   ", plan_.name())
                            .line("label  ", label_)
                            .line("task   ", task(modifiers_.front().task).name, " at ",
                                  placeOf(task(modifiers_.front().task)))
                            .line("fix    use .writes(", label_, ") in it, or add the task that writes the label first")
                            .text());
      return false;
    }
    Message message("two tasks write one label");
    message.line("plan   ", plan_.name()).line("label  ", label_);
    for (const Link& w : writers_) message.line("task   ", task(w.task).name, " at ", placeOf(task(w.task)));
    message.line("fix    keep one .writes(", label_, "); the others say .modifies(", label_, ", from(\"",
                 task(writers_.front().task).name, "\"))");
    faults_.push_back(message.text());
    return false;
  }

  /// The modifier that continues from `current`, or the end with a fault noted.
  std::vector<Link>::iterator nextAfter(std::int32_t current, std::vector<Link>& left) {
    const std::string& name = task(current).name;
    std::vector<std::vector<Link>::iterator> candidates;
    for (auto at = left.begin(); at != left.end(); ++at) {
      const bool first = current == writers_.front().task;
      if (at->from == name || (at->from.empty() && (first || left.size() == 1))) candidates.push_back(at);
    }
    if (candidates.size() == 1) return candidates.front();
    Message message(candidates.empty() ? "a modification follows no task that changes the label"
                                       : "the order of two modifications is not settled");
    message.line("plan   ", plan_.name()).line("label  ", label_);
    const auto name2 = [&](const Link& m) {
      message.line("task   ", task(m.task).name, " at ", placeOf(task(m.task)),
                   m.from.empty() ? "" : ", from(\"" + m.from + "\")");
    };
    if (candidates.empty()) {
      for (const Link& m : left) name2(m);
      message.line("fix    name the task whose value it changes: .modifies(", label_, ", from(\"", name, "\"))");
    } else {
      for (const auto& at : candidates) name2(*at);
      message.line("fix    say in one of them which value it changes: .modifies(", label_, ", from(\"",
                   task(candidates.front()->task).name, "\"))");
    }
    faults_.push_back(message.text());
    return left.end();
  }

  const StepPlan& plan_;
  const std::string& label_;
  Faults& faults_;
  std::vector<Link> writers_;
  std::vector<Link> modifiers_;
};

std::int32_t versionBy(const LabelVersions& versions, std::int32_t task) {
  const auto at = std::find(versions.tasks.begin(), versions.tasks.end(), task);
  return at == versions.tasks.end() ? -1 : static_cast<std::int32_t>(at - versions.tasks.begin());
}

void faultNoProducer(const StepPlan& plan, const TaskDeclaration& task, const std::string& label, Faults& faults) {
  faults.push_back(Message("nobody computes what a task reads")
                       .line("plan   ", plan.name())
                       .line("task   ", task.name, " at ", placeOf(task))
                       .line("reads  New ", label)
                       .line("fix    read Old ", label, ", or add a task with .writes(", label, ") to this plan")
                       .text());
}

void faultUnknownSource(const StepPlan& plan, const TaskDeclaration& task, const std::string& label,
                        const std::string& from, const LabelVersions& versions, Faults& faults) {
  Message message("a read names a task that does not compute the label");
  message.line("plan   ", plan.name())
      .line("task   ", task.name, " at ", placeOf(task))
      .line("reads  New ", label, ", from(\"", from, "\")");
  std::string names;
  for (const std::int32_t t : versions.tasks) {
    names += (names.empty() ? "" : ", ") + plan.tasks()[static_cast<std::size_t>(t)].name;
  }
  message.line("fix    name one of: ", names);
  faults.push_back(message.text());
}

/// The version of New that a read means; -1 with a fault noted when there is none.
std::int32_t versionOfRead(const ResolvedPlan& resolved, std::int32_t number, const ReadDeclaration& read,
                           const std::string& label, Faults& faults) {
  const StepPlan& plan = *resolved.plan;
  const TaskDeclaration& task = resolved.declaration(number);
  const auto found = resolved.versions.find(read.label);
  if (found == resolved.versions.end() || found->second.tasks.empty()) {
    if (found == resolved.versions.end()) faultNoProducer(plan, task, label, faults);
    return -1;
  }
  const LabelVersions& versions = found->second;
  if (read.from.empty()) {
    // A task that changes the label in place reads what it is about to change.
    const std::int32_t own = versionBy(versions, number);
    if (own == 0) faultNoProducer(plan, task, label, faults);
    return own > 0 ? own - 1 : static_cast<std::int32_t>(versions.tasks.size()) - 1;
  }
  for (std::size_t v = 0; v < versions.tasks.size(); ++v) {
    if (resolved.declaration(versions.tasks[v]).name == read.from) return static_cast<std::int32_t>(v);
  }
  faultUnknownSource(plan, task, label, read.from, versions, faults);
  return -1;
}

void resolveTask(ResolvedPlan& resolved, std::int32_t number, const LabelTable& labels, Faults& faults) {
  const TaskDeclaration& task = resolved.declaration(number);
  ResolvedTask out;
  for (const ReadDeclaration& read : task.reads) {
    ResolvedRead r{read.label, -1, read.halo};
    if (read.generation == Generation::New) {
      r.version = versionOfRead(resolved, number, read, labels.info(read.label).name, faults);
      if (r.version < 0) continue;
    }
    const auto same = std::find_if(out.reads.begin(), out.reads.end(), [&](const ResolvedRead& o) {
      return o.label == r.label && o.version == r.version;
    });
    if (same == out.reads.end()) {
      out.reads.push_back(r);
    } else {
      same->halo = unite(same->halo, r.halo);
    }
  }
  for (const WriteDeclaration& write : task.writes) {
    const std::int32_t version = versionBy(resolved.versions[write.label], number);
    if (version >= 0) out.writes.push_back({write.label, version});
  }
  resolved.tasks.push_back(std::move(out));
}

void checkNamesAndBodies(const StepPlan& plan, Faults& faults) {
  std::set<std::string> names;
  for (const TaskDeclaration& task : plan.tasks()) {
    if (!names.insert(task.name).second) {
      faults.push_back(Message("two tasks of one plan have the same name")
                           .line("plan   ", plan.name())
                           .line("task   ", task.name, " at ", placeOf(task))
                           .line("fix    give each task its own name, \"Component::verb\"")
                           .text());
    }
    if (!task.body.cpu) {
      faults.push_back(Message("a task has no body that can run here")
                           .line("plan   ", plan.name())
                           .line("task   ", task.name, " at ", placeOf(task))
                           .line("fix    add .runs<Cpu>(...) or .runs<Cpu, Gpu>(...)")
                           .text());
    }
  }
}

}  // namespace

ResolvedPlan resolvePlan(const StepPlan& plan, const LabelTable& labels, Faults& faults) {
  ResolvedPlan resolved;
  resolved.plan = &plan;
  checkNamesAndBodies(plan, faults);
  std::set<LabelId> written;
  for (const TaskDeclaration& task : plan.tasks()) {
    for (const WriteDeclaration& write : task.writes) written.insert(write.label);
  }
  for (const LabelId label : written) {
    resolved.versions[label] = VersionChain(plan, labels.info(label).name, label, faults).resolve();
  }
  for (std::size_t n = 0; n < plan.tasks().size(); ++n) {
    resolveTask(resolved, static_cast<std::int32_t>(n), labels, faults);
  }
  orderTasks(resolved, labels, faults);
  return resolved;
}

}  // namespace tessera::detail
