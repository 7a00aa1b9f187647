#pragma once

#include <string>
#include <type_traits>

#include "core/exec/kernel_call.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

/// A task touched data that it did not declare; the message names task, label, patch, cell and the clause to
/// add.
class UndeclaredAccess : public ErrorClass<UndeclaredAccess> {
 public:
  UndeclaredAccess(std::string text, std::string label)
      : ErrorClass(ErrorKind::Internal, std::move(text)), label_(std::move(label)) {}
  const std::string& label() const { return label_; }

 private:
  std::string label_;
};

namespace detail {

/// Throws UndeclaredAccess: no clause of the task names `label` in this way.
[[noreturn]] void reportUndeclared(const TaskFrame& frame, LabelId label, AccessMode wanted, Reach reach);
/// Throws UndeclaredAccess: the task contributes to a reduction that it did not name.
[[noreturn]] void reportUndeclaredReduction(const TaskFrame& frame, ReductionLabel reduction);
/// Throws UndeclaredAccess: the task has contributed to this sum before, on this patch.
[[noreturn]] void reportSecondContribution(const TaskFrame& frame, ReductionLabel reduction);
/// Throws UndeclaredAccess: the task reads a reduction that it does not declare to read.
[[noreturn]] void reportUndeclaredReduced(const TaskFrame& frame, ReductionLabel reduction);
/// Throws UndeclaredAccess: the task is declared `.withoutDt()`.
[[noreturn]] void reportUndeclaredDt(const TaskFrame& frame);
/// Throws UndeclaredAccess: index `x` lies outside what the task declared.
[[noreturn]] void reportOutside(const TaskFrame& frame, const TaskAccess& access, Index x,
                                std::int32_t component);
/// Throws UndeclaredAccess: the task reads an index of a scratch field that it has not written.
[[noreturn]] void reportUnwrittenScratch(const TaskFrame& frame, const TaskAccess& access, Index x,
                                         std::int32_t component);
/// Throws UndeclaredAccess: the variable has no such component.
[[noreturn]] void reportNoComponent(const TaskFrame& frame, const TaskAccess& access, std::int32_t component);
/// Throws UndeclaredAccess where index `x` lies outside of the patch along more than one axis.
void expectBesideFace(const TaskFrame& frame, const TaskAccess& access, Index x);
/// Throws UndeclaredAccess where no patch of the level that is read whole has index `x`.
void expectCovered(const TaskFrame& frame, const TaskAccess& access, Index x);

}  // namespace detail

/// A Field that compares every index with the declaration, and marks what is written.
template <class T>
class CheckedField {
 public:
  /// Of one component of a variable that has some.
  CheckedField(const TaskFrame& frame, const TaskAccess& access, std::int32_t component = 0)
      : frame_(&frame),
        access_(&access),
        component_(component),
        field_(reinterpret_cast<T*>(access.data) + component * access.layout.strideC, access.layout) {}

  /// Compiled once and called: inlined into each read of each loop the checks would take minutes to compile.
  TESSERA_KERNEL_CALL T& operator()(Index x) const {
    const Box& allowed = access_->declared;
    Index inside = x;  // an unresolved axis has stride 0: any index names the same element
    if (access_->layout.strideJ == 0) inside.j = allowed.lo.j;
    if (access_->layout.strideK == 0) inside.k = allowed.lo.k;
    if (!allowed.contains(inside)) detail::reportOutside(*frame_, *access_, x, component_);
    if (access_->facesOnly) detail::expectBesideFace(*frame_, *access_, inside);
    if (access_->holes) detail::expectCovered(*frame_, *access_, inside);
    if constexpr (!std::is_const_v<T>) {
      mark(inside);
    } else if (access_->mode == AccessMode::Scratch && !isMarked(inside)) {
      detail::reportUnwrittenScratch(*frame_, *access_, x, component_);
    }
    return field_(x);
  }

 private:
  void mark(Index x) const {
    if (access_->written != nullptr) markOf(x) = 1;
  }
  bool isMarked(Index x) const { return access_->written == nullptr || markOf(x) != 0; }
  std::uint8_t& markOf(Index x) const {
    const Box& box = access_->declared;
    const Extent n = box.extent();
    const Index r = x - box.lo;
    return (*access_->written)[static_cast<std::size_t>(((component_ * n.k + r.k) * n.j + r.j) * n.i + r.i)];
  }

  const TaskFrame* frame_;
  const TaskAccess* access_;
  std::int32_t component_;
  Field<T> field_;
};

/// The components of a variable in checked mode.
template <class T>
class CheckedComponents {
 public:
  CheckedComponents(const TaskFrame& frame, const TaskAccess& access, std::int32_t count)
      : frame_(&frame), access_(&access), count_(count) {}

  CheckedField<T> operator[](std::int32_t component) const {
    if (component < 0 || component >= count_) detail::reportNoComponent(*frame_, *access_, component);
    return {*frame_, *access_, component};
  }
  std::int32_t count() const { return count_; }

 private:
  const TaskFrame* frame_;
  const TaskAccess* access_;
  std::int32_t count_;
};

}  // namespace tessera
