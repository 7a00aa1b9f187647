#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "core/exec/device_exec.hpp"
#include "core/exec/exec.hpp"
#include "core/geometry/box_difference.hpp"
#include "datawarehouse/checked/checked_device_field.hpp"
#include "datawarehouse/checked/checked_field.hpp"
#include "datawarehouse/checked/checked_table.hpp"
#include "datawarehouse/checked/finite_watch.hpp"
#include "datawarehouse/component_fields.hpp"
#include "datawarehouse/read_only_field.hpp"
#include "datawarehouse/task_frame.hpp"
#include "grid/generation.hpp"
#include "grid/refine.hpp"

namespace tessera {

namespace detail {

/// The view of a variable that suits a place. What a task reads no loop of it
/// may write through another view; a device relies on that.
template <class Exec, class T>
struct FieldFor {
  using Type = Field<T>;
};
template <class T>
struct FieldFor<Checked, T> {
  using Type = CheckedField<T>;
};
template <class T>
struct FieldFor<Gpu, const T> {
  using Type = ReadOnlyField<T>;
};
template <class T>
struct FieldFor<CheckedGpu, T> {
  using Type = CheckedDeviceField<T>;
};

/// The view of all components of a variable that suits a place.
template <class Exec, class T>
struct ComponentsFor {
  using Type = ComponentFields<typename FieldFor<Exec, T>::Type>;
};
template <class T>
struct ComponentsFor<Checked, T> {
  using Type = CheckedComponents<T>;
};
template <class T>
struct ComponentsFor<CheckedGpu, T> {
  using Type = CheckedDeviceComponents<T>;
};

/// What a label's type is to a task: of its fields, and the numbers they hold.
template <class Exec, class T>
struct ViewFor {
  using Number = T;
  using Type = typename FieldFor<Exec, T>::Type;
  static constexpr bool kHasComponents = false;
};
template <class Exec, class T>
struct ViewFor<Exec, Components<T>> {
  using Number = T;
  using Type = typename ComponentsFor<Exec, T>::Type;
  static constexpr bool kHasComponents = true;
};
template <class Exec, class T>
struct ViewFor<Exec, const Components<T>> : ViewFor<Exec, Components<const T>> {};

/// Tells a device of each loop that computes final values of the frame's outputs.
class FrameFinals final : public LoopFinals {
 public:
  explicit FrameFinals(const TaskFrame& frame) : frame_(&frame) {}
  void announce(const char* loop, DeviceLoops& loops) const override;

 private:
  const TaskFrame* frame_;
};

template <class Exec>
inline constexpr bool kIsOnDevice = std::is_same_v<Exec, Gpu> || std::is_same_v<Exec, CheckedGpu>;

}  // namespace detail

/// What a kernel sees of one task on one patch. `Exec` says where it runs; the
/// same body serves all of them. Use it inside the task only; each call is
/// cheap but not free: take fields once, before the loop.
///
///   const auto T = task.read(Old, temperature);
///   const auto next = task.write(temperature);
///   forEach(task.exec(), "advance", task.interior(),
///           [=] TESSERA_KERNEL(Index x) { next(x) = T(x); });
template <class Exec>
class PatchTask {
 public:
  template <class T>
  using FieldOf = typename detail::ViewFor<Exec, T>::Type;

  /// What `reduce` gives for Min and Max: a double, or on a device a number that nothing can branch on.
  using ReducedReal = std::conditional_t<detail::kIsOnDevice<Exec>, DeviceNumber, double>;
  /// What `reduce` gives for Sum.
  using ReducedSum = std::conditional_t<detail::kIsOnDevice<Exec>, DeviceExactSum, ExactSum>;

  explicit PatchTask(const TaskFrame& frame) : frame_(&frame) {}

  /// The first argument of `forEach` and `reduce`; valid while the body runs.
  Exec exec() const {
    if constexpr (std::is_same_v<Exec, Cpu>) {
      return {frame_->watch, frame_->ahead};
    } else if constexpr (std::is_same_v<Exec, Gpu>) {
      return {frame_->loops, frame_->finalLoops.empty() ? nullptr : &finals_};
    } else if constexpr (std::is_same_v<Exec, CheckedGpu>) {
      return {frame_->loops};
    } else {
      return {frame_->loopNames};
    }
  }

  /// The declared read of `label`; throws UndeclaredAccess when there is none.
  template <class T, Centering C>
  FieldOf<const T> read(Generation generation, Label<T, C> label) const {
    return field<const T>(label.id, modeOf(generation), Reach::Patch);
  }
  /// What `fromCoarser(n)` declared: indices of the next coarser level,
  /// `coarsen(x, refinementRatio())` under x.
  template <class T, Centering C>
  FieldOf<const T> readCoarser(Generation generation, Label<T, C> label) const {
    return field<const T>(label.id, modeOf(generation), Reach::Coarser);
  }
  /// What `fromFiner()` declared: indices of the next finer level, valid inside
  /// `refine(b, ratio)` of each box b that `forEachCovered` visits.
  template <class T, Centering C>
  FieldOf<const T> readFiner(Generation generation, Label<T, C> label) const {
    return field<const T>(label.id, modeOf(generation), Reach::Finer);
  }
  /// What `wholeLevel(level)` declared: every index that a patch of that level
  /// has (-1: of the task's own level). Elsewhere in the domain there is no
  /// value; checked mode names the task that reads one.
  template <class T, Centering C>
  FieldOf<const T> readLevel(Generation generation, Label<T, C> label, LevelId level = -1) const {
    return field<const T>(label.id, modeOf(generation), Reach::WholeLevel, level);
  }
  /// The declared write of `label`: every index of `interior(label)` has to be
  /// written.
  template <class T, Centering C>
  FieldOf<T> write(Label<T, C> label) const {
    return field<T>(label.id, AccessMode::Write, Reach::Patch);
  }
  /// The declared in-place change of `label`.
  template <class T, Centering C>
  FieldOf<T> modify(Label<T, C> label) const {
    return field<T>(label.id, AccessMode::Modify, Reach::Patch);
  }

  /// A declared scratch field, to be written: what it held before is nobody's. Of the size that
  /// `.scratch(...)` says; the same memory in each call.
  template <class T, Centering C>
  FieldOf<T> scratch(Label<T, C> label) const {
    return field<T>(label.id, AccessMode::Scratch, Reach::Patch);
  }
  /// The same to be read, at indices that an earlier loop of the body has written.
  template <class T, Centering C>
  FieldOf<const T> readScratch(Label<T, C> label) const {
    return field<const T>(label.id, AccessMode::Scratch, Reach::Patch);
  }

  /// Of a task that is declared `.oncePerLevel()`: calls `visit(task)` for each
  /// patch of the level that this rank has, in ascending order of their ids,
  /// with what a task on that patch would see. As often as the body asks; the
  /// body itself has no patch and no fields but those of `readLevel`, and gives
  /// the contributions.
  ///
  ///   task.forEachPatch([&](const auto& patch) {
  ///     const auto T = patch.read(New, temperature);
  ///     forEach(patch.exec(), "look", patch.interior(), ...);
  ///   });
  template <class Visit>
  void forEachPatch(Visit&& visit) const {
    for (std::size_t n = 0; n < frame_->patchCount; ++n) visit(PatchTask(frame_->patches[n]));
  }

  /// The cells of the patch.
  const Box& interior() const { return frame_->patch->cells; }
  /// What the patch stores and writes of a label: its cells, or all nodes or
  /// faces on their borders. Those between two patches are written by the tasks
  /// of both, which must compute the same bits: from the index, its position
  /// and declared reads, never from the patch. Checked mode compares them.
  template <class T, Centering C>
  Box interior(Label<T, C>) const {
    return frame_->level->closedBox(*frame_->patch, C);
  }

  /// Calls `visit(Box)` for the parts of `interior(label)` that count for this
  /// patch, where sums over nodes or faces shall have each of them once.
  template <class T, Centering C, class Visit>
  void forEachOwned(Label<T, C>, Visit&& visit) const {
    frame_->level->forEachOwned(*frame_->patch, C, visit);
  }

  const Patch& patch() const { return *frame_->patch; }
  const Level& level() const { return *frame_->level; }
  const Hierarchy& hierarchy() const { return *frame_->hierarchy; }
  /// Cells of the next finer level along each axis of a cell of this one; {1,
  /// 1, 1} on the finest.
  Extent refinementRatio() const {
    const LevelId finer = frame_->level->number() + 1;
    const bool finest = finer >= static_cast<LevelId>(hierarchy().levels().size());
    return finest ? Extent{1, 1, 1} : hierarchy().level(finer).ratioToCoarser();
  }
  /// Calls `visit(Box)` for the parts of the patch that finer patches cover, in
  /// cells of this level; disjoint.
  template <class Visit>
  void forEachCovered(Visit&& visit) const {
    const LevelId finer = frame_->level->number() + 1;
    if (finer >= static_cast<LevelId>(hierarchy().levels().size())) return;
    const Extent ratio = refinementRatio();
    hierarchy().level(finer).forEachOverlapping(refine(interior(), ratio), [&](const Patch& fine) {
      visit(intersect(interior(), coarsen(fine.cells, ratio)));
    });
  }
  /// The rest of the patch: the cells that are the finest ones where they are,
  /// each once over all levels. So sums and norms over the mesh go over these.
  template <class Visit>
  void forEachUncovered(Visit&& visit) const {
    if (frame_->level->number() + 1 >= static_cast<LevelId>(hierarchy().levels().size())) {
      visit(interior());
    } else {
      visitUncovered(interior(), visit);
    }
  }
  const Geometry& geometry() const { return frame_->level->geometry(); }
  /// Cell sizes of the level along the axes.
  const Real3& spacing() const { return frame_->level->spacing(); }
  /// 1/h^2 along a resolved axis, 0 along one of a single cell: a Laplacian
  /// then needs no case distinction.
  Real3 inverseSquaredSpacing() const {
    Real3 r;
    for (int d = 0; d < kAxes; ++d) r[d] = geometry().active(d) ? 1.0 / (spacing()[d] * spacing()[d]) : 0.0;
    return r;
  }
  /// 1/h along a resolved axis, 0 along one of a single cell.
  Real3 inverseSpacing() const {
    Real3 r;
    for (int d = 0; d < kAxes; ++d) r[d] = geometry().active(d) ? 1.0 / spacing()[d] : 0.0;
    return r;
  }

  /// Time of Old.
  double time() const {
    asksFor(StepNumber::Time);
    return frame_->time;
  }
  /// New is at time() + dt(). Throws UndeclaredAccess in a task that is
  /// declared `.withoutDt()`.
  double dt() const {
    if (!frame_->usesDt) detail::reportUndeclaredDt(*frame_);
    asksFor(StepNumber::Dt);
    return frame_->dt;
  }
  std::int64_t step() const {
    asksFor(StepNumber::Step);
    return frame_->step;
  }

  /// What the last earlier item of the step program that contributes to a
  /// reduction has found, of all patches and ranks. Throws UndeclaredAccess
  /// where the task does not declare to read it.
  double reduced(ReductionLabel reduction) const {
    const auto& declared = frame_->readsReduced;
    if (std::find(declared.begin(), declared.end(), reduction.id) == declared.end())
      detail::reportUndeclaredReduced(*frame_, reduction);
    asksFor(StepNumber::Reduced);
    return frame_->reduced[static_cast<std::size_t>(reduction.id)];
  }

  /// A declared constant table, to be copied into kernels: `table[n]`,
  /// `table.size()`.
  auto table(TableLabel label) const {
    const auto& declared = frame_->readsTables;
    if (std::find(declared.begin(), declared.end(), label.id) == declared.end())
      detail::reportUndeclaredTable(*frame_, label);
    const TableView& view = frame_->tables[static_cast<std::size_t>(label.id)];
    if constexpr (std::is_same_v<Exec, Checked>) {
      return CheckedTable(*frame_, label, view);
    } else {
      return view;
    }
  }

  /// Gives this patch's share of a declared reduction (Min or Max).
  void contribute(ReductionLabel reduction, double value) const {
    PatchContribution& c = contribution(reduction);
    if (!isKnown()) return;
    c.value = value;
    c.given = true;
  }
  void contribute(ReductionLabel reduction, const DeviceNumber& value) const {
    contribute(reduction, detail::valueOf(value));
  }
  /// Gives this patch's share of a declared Sum, once.
  void contribute(ReductionLabel reduction, const ExactSum& sum) const {
    PatchContribution& c = contribution(reduction);
    if (!isKnown()) return;
    if (c.given) detail::reportSecondContribution(*frame_, reduction);
    c.sum->add(sum);
    c.given = true;
  }
  void contribute(ReductionLabel reduction, const DeviceExactSum& sum) const {
    contribute(reduction, detail::valueOf(sum));
  }

 private:
  /// Of one box, by cutting out one finer patch after the other: needs no
  /// memory, which a task shall not ask for.
  template <class Visit>
  void visitUncovered(const Box& part, Visit& visit) const {
    const Extent ratio = refinementRatio();
    std::optional<Box> covered;
    hierarchy()
        .level(frame_->level->number() + 1)
        .forEachOverlapping(refine(part, ratio), [&](const Patch& fine) {
          if (!covered) covered = intersect(part, coarsen(fine.cells, ratio));
        });
    if (!covered) return visit(part);
    forEachOutside(part, *covered, [&](const Box& rest) { visitUncovered(rest, visit); });
  }
  static constexpr AccessMode modeOf(Generation generation) {
    return generation == Generation::Old ? AccessMode::ReadOld : AccessMode::ReadNew;
  }
  template <class T>
  FieldOf<T> field(LabelId label, AccessMode mode, Reach reach, LevelId level = -1) const {
    for (const TaskAccess& access : frame_->accesses) {
      if (access.label != label || access.mode != mode || access.reach != reach) continue;
      if (reach == Reach::WholeLevel && access.level != (level < 0 ? frame_->level->number() : level))
        continue;
      return viewOf<T>(access);
    }
    detail::reportUndeclared(*frame_, label, mode, reach);
  }
  template <class T>
  FieldOf<T> viewOf(const TaskAccess& access) const {
    using View = detail::ViewFor<Exec, T>;
    using Number = typename View::Number;
    [[maybe_unused]] std::int32_t count = 1;
    if constexpr (View::kHasComponents) count = frame_->labels->info(access.label).type.components;
    if constexpr (std::is_same_v<Exec, Gpu> && std::is_const_v<Number>) {
      if (access.mode != AccessMode::Scratch) willRead(access, count, sizeof(Number));
    }
    if constexpr (View::kHasComponents) {
      if constexpr (std::is_same_v<Exec, Checked>) {
        return {*frame_, access, count};
      } else if constexpr (std::is_same_v<Exec, CheckedGpu>) {
        return {access, count};
      } else {
        const typename detail::FieldFor<Exec, Number>::Type first(reinterpret_cast<Number*>(access.data),
                                                                  access.layout);
        return {first, access.layout, count};
      }
    } else if constexpr (std::is_same_v<Exec, Checked>) {
      return FieldOf<T>(*frame_, access);
    } else if constexpr (std::is_same_v<Exec, CheckedGpu>) {
      return FieldOf<T>(access);
    } else {
      return FieldOf<T>(reinterpret_cast<Number*>(access.data), access.layout);
    }
  }
  /// Tells a device what the body's loops depend on beside their fields.
  void asksFor([[maybe_unused]] StepNumber number) const {
    if constexpr (std::is_same_v<Exec, Gpu>) frame_->loops->asksFor(number);
  }
  /// Whether reductions give their values: not in the first call of a body that
  /// runs on a device.
  bool isKnown() const {
    if constexpr (detail::kIsOnDevice<Exec>) {
      return frame_->loops->finished();
    } else {
      return true;
    }
  }
  /// Tells a device which memory the body's loops read, where that is little
  /// more than the patch.
  void willRead(const TaskAccess& access, std::int32_t planes, std::size_t elementBytes) const {
    if (access.reach != Reach::Patch || access.sharedWindow) return;
    const std::int64_t elements = (planes - 1) * access.layout.strideC + access.layout.span();
    frame_->loops->willRead({access.data, elements * static_cast<std::int64_t>(elementBytes)});
  }
  PatchContribution& contribution(ReductionLabel reduction) const {
    for (PatchContribution& c : frame_->contributions) {
      if (c.reduction == reduction.id) return c;
    }
    detail::reportUndeclaredReduction(*frame_, reduction);
  }

  const TaskFrame* frame_;
  detail::FrameFinals finals_{*frame_};
};

}  // namespace tessera
