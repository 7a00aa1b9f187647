#include "datawarehouse/checked/checked_run.hpp"

#include <cmath>
#include <limits>

#include <xxhash.h>

#include "core/exec/exec.hpp"
#include "datawarehouse/checked/finite_rows.hpp"
#include "datawarehouse/checked/finite_watch.hpp"

namespace tessera {
namespace {

bool isOutput(const TaskAccess& access) { return isOutput(access.mode); }

/// Calls `row(first element, elements)` for each row of the declared region of an access.
template <class Row>
void forEachDeclaredRow(const TaskAccess& access, Row&& row) {
  const Box& box = access.declared;
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      row(Index{box.lo.i, j, k}, access.layout.at({box.lo.i, j, k}), box.extent().i);
    }
  }
}

/// The indices that the same task changes in the same memory; empty where it only reads it.
Box changedBox(const TaskAccess& read, std::span<const TaskAccess> accesses) {
  for (const TaskAccess& access : accesses) {
    if (isOutput(access) && access.data == read.data) return access.declared;
  }
  return {};
}

/// Of what is declared without `changed`.
std::uint64_t hashOf(const TaskAccess& access, const Box& changed, const ElementType& type) {
  std::uint64_t hash = 0;
  const std::int64_t bytes = type.elementBytes();
  const auto add = [&](std::int64_t at, std::int64_t n) {
    if (n <= 0) return;
    for (std::int32_t c = 0; c < type.planes(); ++c)
      hash = XXH64(access.data + (at + c * access.layout.strideC) * bytes,
                   static_cast<std::size_t>(n * bytes), hash);
  };
  forEachDeclaredRow(access, [&](Index first, std::int64_t at, std::int64_t n) {
    const Box row{first, first + Index{n, 1, 1}};
    const Box skipped = intersect(row, changed);
    if (skipped.empty()) {
      add(at, n);
      return;
    }
    add(at, skipped.lo.i - first.i);
    add(at + skipped.hi.i - first.i, row.hi.i - skipped.hi.i);
  });
  return hash;
}

/// The halo as well: what another variable has left in the same memory must not be taken for a value. In a
/// shared window only what the patch owns: the rest are values of others.
template <class T>
void poison(const TaskAccess& access, const ElementType& type) {
  auto* data = reinterpret_cast<T*>(access.data);
  const auto fill = [&](std::int64_t at, std::int64_t n) {
    for (std::int32_t c = 0; c < type.planes(); ++c)
      std::fill_n(data + (at + c * access.layout.strideC) * type.together(), n * type.together(),
                  std::numeric_limits<T>::signaling_NaN());
  };
  if (!access.sharedWindow) return fill(0, access.layout.elements());
  forEachDeclaredRow(access, [&](Index, std::int64_t at, std::int64_t n) { fill(at, n); });
}

void prepareOutput(TaskAccess& access, const LabelInfo& info, std::vector<std::uint8_t>& marks) {
  if (!access.isMarked()) return;
  if (info.type.scalar == Scalar::Float64) poison<double>(access, info.type);
  if (info.type.scalar == Scalar::Float32) poison<float>(access, info.type);
  marks.assign(static_cast<std::size_t>(access.declared.volume() * info.type.planes()), 0);
  access.written = &marks;
}

void expectAllWritten(const TaskFrame& frame, const TaskAccess& access) {
  const Extent n = access.declared.extent();
  for (std::size_t m = 0; m < access.written->size(); ++m) {
    if ((*access.written)[m] != 0) continue;
    const auto at = static_cast<std::int64_t>(m);
    detail::reportUnwritten(frame, access,
                            access.declared.lo + Index{at % n.i, at / n.i % n.j, at / (n.i * n.j) % n.k},
                            static_cast<std::int32_t>(at / access.declared.volume()));
  }
}

void expectUnchanged(const TaskFrame& frame, const TaskAccess& access, std::uint64_t before) {
  const LabelInfo& info = frame.labels->info(access.label);
  if (hashOf(access, changedBox(access, frame.accesses), info.type) == before) return;
  throw UndeclaredAccess(Message("an input changed while the task that reads it was running")
                             .line("task      ", frame.task, " on patch ", asText(*frame.patch))
                             .line("reads     ", info.name, " in ", asText(access.declared))
                             .line("declared  at ", frame.declaredAt)
                             .line("fix       a task writes through a read-only field: declare .modifies(",
                                   info.name, ") where it changes")
                             .text(),
                         info.name);
}

/// Throws for the first number that is not finite, if there is one.
template <class T>
void lookForNonFinite(const TaskFrame& frame, const TaskAccess& access, const ElementType& type) {
  const std::int64_t each = type.together();
  for (std::int32_t c = 0; c < type.planes(); ++c) {
    const auto* data = reinterpret_cast<const T*>(access.data) + c * access.layout.strideC;
    forEachDeclaredRow(access, [&](Index first, std::int64_t at, std::int64_t n) {
      for (std::int64_t m = 0; m < n * each; ++m) {
        const T value = data[at * each + m];
        if (std::isfinite(value)) continue;
        detail::reportNonFinite(frame, access, first + Index{m / each, 0, 0}, c, value);
      }
    });
  }
}

/// Hears which loops a body has.
class LoopNames final : public LoopWatch {
 public:
  explicit LoopNames(std::span<const FinalLoop> declared)
      : declared_(declared), seen_(declared.size(), false) {}

  bool begins(const char* loop) override {
    for (std::size_t n = 0; n < declared_.size(); ++n) seen_[n] = seen_[n] || declared_[n].loop == loop;
    return false;
  }
  void passed(const Box&) override {}
  void finished(const Box&) override {}

  /// Throws for the first loop that was declared and not run.
  void expectAll(const TaskFrame& frame) const {
    for (std::size_t n = 0; n < declared_.size(); ++n) {
      if (seen_[n]) continue;
      const std::string& name = frame.labels->info(declared_[n].label).name;
      throw UndeclaredAccess(
          Message("task declares a loop that its body does not have")
              .line("task      ", frame.task, " on patch ", asText(*frame.patch))
              .line("declared  inLoop(\"", declared_[n].loop, "\") for ", name, " at ", frame.declaredAt)
              .line("fix       call the loop so in forEach, or leave the clause out")
              .text(),
          name);
    }
  }

 private:
  std::span<const FinalLoop> declared_;
  std::vector<bool> seen_;
};

/// Makes the outputs of a task on a patch NaN and notes its inputs, and compares both when it has run.
class CheckedAccesses {
 public:
  CheckedAccesses(const TaskFrame& frame, std::span<TaskAccess> accesses)
      : accesses_(accesses), marks_(accesses.size()), hashes_(accesses.size(), 0) {
    for (std::size_t n = 0; n < accesses.size(); ++n) {
      const LabelInfo& info = frame.labels->info(accesses[n].label);
      if (isOutput(accesses[n]) || accesses[n].mode == AccessMode::Scratch) {
        prepareOutput(accesses[n], info, marks_[n]);
      } else {
        hashes_[n] = hashOf(accesses[n], changedBox(accesses[n], accesses), info.type);
      }
    }
  }

  void expectDeclared(const TaskFrame& frame) {
    for (std::size_t n = 0; n < accesses_.size(); ++n) {
      const bool isScratch = accesses_[n].mode == AccessMode::Scratch;
      if (accesses_[n].writesAll()) expectAllWritten(frame, accesses_[n]);
      if (!isOutput(accesses_[n]) && !isScratch) expectUnchanged(frame, accesses_[n], hashes_[n]);
      accesses_[n].written = nullptr;
    }
  }

 private:
  std::span<TaskAccess> accesses_;
  std::vector<std::vector<std::uint8_t>> marks_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace

void runChecked(TaskFrame frame, std::span<TaskAccess> accesses,
                const std::function<void(const TaskFrame&)>& body) {
  CheckedAccesses checked(frame, accesses);
  frame.accesses = accesses;
  LoopNames loops(frame.finalLoops);
  frame.loopNames = &loops;
  body(frame);
  loops.expectAll(frame);
  checked.expectDeclared(frame);
  expectContributions(frame);
}

void runCheckedOnPatches(const TaskFrame& frame, std::span<TaskAccess> accesses,
                         const std::function<void(const TaskFrame&)>& body) {
  const std::span<const TaskFrame> patches(frame.patches, frame.patchCount);
  std::vector<CheckedAccesses> checked;
  checked.reserve(patches.size());
  for (const TaskFrame& patch : patches) {
    checked.emplace_back(patch, accesses.first(patch.accesses.size()));
    accesses = accesses.subspan(patch.accesses.size());
  }
  body(frame);
  for (std::size_t n = 0; n < patches.size(); ++n) checked[n].expectDeclared(patches[n]);
  expectContributions(frame);
}

void expectFinite(const TaskFrame& frame) {
  for (const TaskAccess& access : frame.accesses) {
    if (!isOutput(access) || (frame.watch != nullptr && frame.watch->settled(access))) continue;
    const LabelInfo& info = frame.labels->info(access.label);
    if (!detail::mayHoldNonFinite(access, info, access.declared)) continue;
    if (info.type.scalar == Scalar::Float64) lookForNonFinite<double>(frame, access, info.type);
    if (info.type.scalar == Scalar::Float32) lookForNonFinite<float>(frame, access, info.type);
  }
}

void expectContributions(const TaskFrame& frame) {
  for (const PatchContribution& c : frame.contributions) {
    if (c.given) continue;
    const std::string& name = frame.labels->reductionName(c.reduction);
    throw UndeclaredAccess(
        Message("task does not contribute what it declared")
            .line("task      ", frame.task, frame.patch == nullptr ? "" : " on patch " + asText(*frame.patch))
            .line("declared  .contributes(", name, ") at ", frame.declaredAt)
            .line("fix       call task.contribute(", name, ", value) ",
                  frame.patch == nullptr ? "once in the body" : "on every patch")
            .text(),
        name);
  }
}

namespace detail {

void reportUnwritten(const TaskFrame& frame, const TaskAccess& access, Index x, std::int32_t component) {
  const LabelInfo& info = frame.labels->info(access.label);
  throw UndeclaredAccess(
      Message("task leaves a part of its output unwritten")
          .line("task      ", frame.task, " on patch ", asText(*frame.patch))
          .line("writes    ", info.nameOf(component), ", but not at ", asText(info.centering), " ", asText(x))
          .line("declared  ", asText(access.declared), " at ", frame.declaredAt)
          .line("fix       write every index of task.interior(", info.name, "), or declare .modifies(",
                info.name, ")")
          .text(),
      info.name);
}

void reportNonFinite(const TaskFrame& frame, const TaskAccess& access, Index x, std::int32_t component,
                     double value) {
  const LabelInfo& info = frame.labels->info(access.label);
  throw NumericalError(
      Message("a value is not finite")
          .line("variable  ", info.nameOf(component), " = ", value)
          .line("where     ", asText(info.centering), " ", asText(x), " of patch ", asText(*frame.patch))
          .line("task      ", frame.task, ", declared at ", frame.declaredAt)
          .line("fix       look at this task's inputs there; a smaller time.cfl or time.dt helps "
                "against instability")
          .text());
}

}  // namespace detail
}  // namespace tessera
