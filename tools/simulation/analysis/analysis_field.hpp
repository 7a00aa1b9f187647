#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "grid/geometry.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// What an analysis looks at: a variable of one double a cell, node or face, or one component of a variable
/// of several. A plain value; bodies of tasks copy it.
///
///   reads(plan.task("Analysis::region"), field).runs<Cpu>([field](const auto& task) {
///     const auto u = valuesOf(task, field);   // u(x): the number of the cell x at the begin of the step
///   });
struct AnalysisField {
  LabelId variable = -1;
  std::int32_t component = -1;  ///< -1: the variable has no components
  Centering centering = Centering::Cell;

  template <Centering C>
  Label<double, C> whole() const {
    return {variable};
  }
  template <Centering C>
  Label<Components<double>, C> parts() const {
    return {variable};
  }
};

/// A variable, or one of its components, that a plane of the deck names.
struct PlaneField {
  LabelId label = -1;
  std::int32_t component = -1;  ///< -1: all of them
  bool operator==(const PlaneField&) const = default;
};

/// Numbers by cells: of a variable of cells the number itself, of one of faces or nodes the mean of those
/// that the cell has. `Field` is a field of the task.
template <class Field>
class CellValues {
 public:
  CellValues(const Field& field, const Geometry& geometry, Centering centering) : field_(field) {
    for (int d = 0; d < kAxes; ++d) {
      // Along an axis of one cell both borders have one value, which is stored once.
      if (!onBorders(centering, d) || !geometry.active(d)) continue;
      for (std::size_t n = 0; n < count_; ++n) {
        Index upper = offsets_[n];
        ++upper[d];
        offsets_[count_ + n] = upper;
      }
      count_ *= 2;
    }
  }

  double operator()(Index cell) const {
    if (count_ == 1) return field_(cell);
    std::array<double, 8> sums;
    for (std::size_t n = 0; n < count_; ++n) sums[n] = field_(cell + offsets_[n]);
    // In pairs, axis by axis, so that a mirrored field has mirrored means.
    for (std::size_t half = count_ / 2; half > 0; half /= 2)
      for (std::size_t n = 0; n < half; ++n) sums[n] += sums[n + half];
    return sums[0] / static_cast<double>(count_);
  }
  /// Calls `visit(double)` for each number that the cell has.
  template <class Visit>
  void forEach(Index cell, Visit&& visit) const {
    for (std::size_t n = 0; n < count_; ++n) visit(field_(cell + offsets_[n]));
  }
  /// The numbers themselves, by their own indices.
  const Field& field() const { return field_; }

 private:
  Field field_;
  std::array<Index, 8> offsets_{};
  std::size_t count_ = 1;
};

/// Calls `visit` with the centering of the field as a constant: `visit.template operator()<C>()`.
template <class Visit>
decltype(auto) withCentering(Centering centering, Visit&& visit) {
  switch (centering) {
    case Centering::Node:
      return visit.template operator()<Centering::Node>();
    case Centering::FaceX:
      return visit.template operator()<Centering::FaceX>();
    case Centering::FaceY:
      return visit.template operator()<Centering::FaceY>();
    case Centering::FaceZ:
      return visit.template operator()<Centering::FaceZ>();
    default:
      return visit.template operator()<Centering::Cell>();
  }
}

/// Declares that a task reads the Old values of the field's variable.
inline TaskBuilder& reads(TaskBuilder& task, const AnalysisField& field) {
  return withCentering(field.centering, [&]<Centering C>() -> TaskBuilder& {
    return field.component < 0 ? task.reads(Old, field.whole<C>()) : task.reads(Old, field.parts<C>());
  });
}

/// The Old values in the body of a task.
template <class Task>
auto valuesOf(const Task& task, const AnalysisField& field) {
  using Field = decltype(task.read(Old, field.template whole<Cell>()));
  const Field values = withCentering(field.centering, [&]<Centering C>() -> Field {
    return field.component < 0 ? task.read(Old, field.template whole<C>())
                               : task.read(Old, field.template parts<C>())[field.component];
  });
  return CellValues<Field>(values, task.geometry(), field.centering);
}

}  // namespace tessera
