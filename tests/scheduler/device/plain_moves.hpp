#pragma once

#include <cstring>
#include <span>

#include "datawarehouse/field.hpp"
#include "grid/label.hpp"
#include "grid/level.hpp"
#include "grid/refine.hpp"

namespace tessera::test {

/// What moves have to do, index by index and with nothing worked out beforehand: the oracle of operations.

template <class Visit>
void forEachIndex(const Box& box, Visit&& visit) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
    }
  }
}

/// `to` at each index of `region` from `from` at `sourceOf(index)`.
template <class SourceOf>
void plainMove(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
               const Box& region, std::int64_t bytes, SourceOf&& sourceOf) {
  forEachIndex(region, [&](Index x) {
    std::memcpy(to + toLayout.at(x) * bytes, from + fromLayout.at(sourceOf(x)) * bytes,
                static_cast<std::size_t>(bytes));
  });
}

inline void plainCopy(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                      const Box& region, Index shift, std::int64_t bytes) {
  plainMove(to, toLayout, from, fromLayout, region, bytes, [&](Index x) { return x - shift; });
}

inline void plainProlong(std::byte* to, const Layout& toLayout, const std::byte* from,
                         const Layout& fromLayout, const Box& region, Index shift, Extent ratio,
                         std::int64_t bytes) {
  plainMove(to, toLayout, from, fromLayout, region, bytes,
            [&](Index x) { return coarsen(x - shift, ratio); });
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
          sum += static_cast<double>(
              reinterpret_cast<const T*>(from)[fromLayout.at(fine) * type.components + c]);
        });
        reinterpret_cast<T*>(to)[toLayout.at(x) * type.components + c] =
            static_cast<T>(sum / static_cast<double>(ratio.i * ratio.j * ratio.k));
      }
    });
  });
}

/// `values`: of the condition, for each index of the region.
inline void plainCondition(std::byte* data, const Layout& layout, const LabelInfo& info, const Level& level,
                           int side, const Box& region, std::span<const double> values) {
  const BoundaryKind kind = info.boundary.sides[static_cast<std::size_t>(side)]->kind;
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
      for (int c = 0; c < info.type.components; ++c) {
        const T from = reinterpret_cast<const T*>(data)[layout.at(source) * info.type.components + c];
        T& to = reinterpret_cast<T*>(data)[layout.at(x) * info.type.components + c];
        const auto inside = static_cast<double>(from);
        to = kind == BoundaryKind::Outflow     ? from
             : kind == BoundaryKind::Dirichlet ? static_cast<T>(2.0 * v - inside)
                                               : static_cast<T>(inside + distance * v);
      }
    });
  });
}

}  // namespace tessera::test
