#pragma once

#include <cstring>
#include <span>

#include "datawarehouse/field.hpp"
#include "datawarehouse/moves/condition_values.hpp"
#include "grid/label.hpp"
#include "grid/level.hpp"
#include "grid/refine.hpp"
#include "tests/for_each_index.hpp"

namespace tessera::test {

/// What moves have to do, index by index and with nothing worked out beforehand: the oracle of operations.

/// `to` at each index of `region` from `from` at `sourceOf(index)`.
template <class SourceOf>
void plainMove(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
               const Box& region, const ElementType& type, SourceOf&& sourceOf) {
  const std::int64_t bytes = type.elementBytes();
  forEachIndex(region, [&](Index x) {
    for (std::int32_t c = 0; c < type.planes(); ++c) {
      std::memcpy(to + (toLayout.at(x) + c * toLayout.strideC) * bytes,
                  from + (fromLayout.at(sourceOf(x)) + c * fromLayout.strideC) * bytes,
                  static_cast<std::size_t>(bytes));
    }
  });
}

/// Where a number of an element lies, in numbers from element 0 of the layout.
inline std::int64_t placeOf(const Layout& layout, const ElementType& type, Index x, std::int32_t number) {
  return type.order == NumberOrder::Apart ? layout.at(x) + number * layout.strideC
                                          : layout.at(x) * type.components + number;
}

inline void plainCopy(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                      const Box& region, Index shift, const ElementType& type) {
  plainMove(to, toLayout, from, fromLayout, region, type, [&](Index x) { return x - shift; });
}

inline void plainProlong(std::byte* to, const Layout& toLayout, const std::byte* from,
                         const Layout& fromLayout, const Box& region, Index shift, Extent ratio,
                         const ElementType& type) {
  plainMove(to, toLayout, from, fromLayout, region, type, [&](Index x) { return coarsen(x - shift, ratio); });
}

/// Calls `visit(T{})` with the type of the numbers.
template <class Visit>
void withScalar(Scalar scalar, Visit&& visit) {
  switch (scalar) {
    case Scalar::Float64:
      return visit(double{});
    case Scalar::Float32:
      return visit(float{});
    case Scalar::Int32:
      return visit(std::int32_t{});
    case Scalar::Int64:
      return visit(std::int64_t{});
  }
}

inline void plainAverage(std::byte* to, const Layout& toLayout, const std::byte* from,
                         const Layout& fromLayout, const Box& region, Index shift, Extent ratio,
                         const ElementType& type) {
  withScalar(type.scalar, [&]<class T>(T) {
    forEachIndex(region, [&](Index x) {
      Index first = x - shift;
      for (int d = 0; d < kAxes; ++d) first[d] *= ratio[d];
      for (int c = 0; c < type.components; ++c) {
        double sum = 0.0;
        forEachIndex({first, first + Index{ratio.i, ratio.j, ratio.k}}, [&](Index fine) {
          sum += static_cast<double>(reinterpret_cast<const T*>(from)[placeOf(fromLayout, type, fine, c)]);
        });
        reinterpret_cast<T*>(to)[placeOf(toLayout, type, x, c)] =
            static_cast<T>(sum / static_cast<double>(ratio.i * ratio.j * ratio.k));
      }
    });
  });
}

/// `values`: of the condition, for each index of the region; kNotHere where another one holds.
inline void plainCondition(std::byte* data, const Layout& layout, const LabelInfo& info, const Level& level,
                           int side, const ConditionNumber& which, const Box& region,
                           std::span<const double> values) {
  const SideCondition& condition = conditionOf(info, side, which);
  const BoundaryKind kind = condition.kind;
  const bool apart = info.type.order == NumberOrder::Apart;
  const int axis = side / 2;
  const bool high = side % 2 == 1;
  const Box domain = level.domainOf(info.centering);
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  withScalar(info.type.scalar, [&]<class T>(T) {
    std::size_t n = 0;
    forEachIndex(region, [&](Index x) {
      Index source = x;
      if (kind == BoundaryKind::Outflow) {
        source[axis] = edge;
      } else {
        source[axis] = 2 * edge - x[axis] + (onBorders(info.centering, axis) ? 0 : high ? 1 : -1);
      }
      const std::int64_t layers = high ? x[axis] - source[axis] : source[axis] - x[axis];
      const double distance = static_cast<double>(layers) * level.spacing()[axis];
      const double v = values[n++];
      if (isNotHere(v)) return;
      for (int c = 0; c < info.type.components; ++c) {
        if (apart && c != which.component) continue;
        const T from = reinterpret_cast<const T*>(data)[placeOf(layout, info.type, source, c)];
        T& to = reinterpret_cast<T*>(data)[placeOf(layout, info.type, x, c)];
        const auto inside = static_cast<double>(from);
        to = kind == BoundaryKind::Outflow     ? from
             : kind == BoundaryKind::Reflect   ? static_cast<T>(condition.sign < 0 ? -from : from)
             : kind == BoundaryKind::Given     ? static_cast<T>(v)
             : kind == BoundaryKind::Dirichlet ? static_cast<T>(2.0 * v - inside)
                                               : static_cast<T>(inside + distance * v);
      }
    });
  });
}

}  // namespace tessera::test
