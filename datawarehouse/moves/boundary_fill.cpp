#include "datawarehouse/moves/boundary_fill.hpp"

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

/// How one halo index gets its value: `source` is the interior index, `distance` the length from it to the
/// halo index along the outward normal.
struct Mirror {
  Index source;
  double distance = 0.0;
};

Index sourceOf(Index x, int side, const Box& domain, bool border, BoundaryKind kind) {
  const int axis = side / 2;
  const bool high = side % 2 == 1;
  const std::int64_t edge = high ? domain.hi[axis] - 1 : domain.lo[axis];
  Index source = x;
  if (kind == BoundaryKind::Outflow) {
    source[axis] = edge;
  } else {
    // Cells mirror about the face, half a cell beyond the edge cell; nodes and faces about the edge index
    // itself.
    source[axis] = border ? 2 * edge - x[axis] : 2 * edge + (high ? 1 : -1) - x[axis];
  }
  return source;
}

Mirror mirrorOf(Index x, int side, const Box& domain, bool border, double spacing, BoundaryKind kind) {
  const int axis = side / 2;
  const bool high = side % 2 == 1;
  Mirror m{sourceOf(x, side, domain, border, kind), 0.0};
  if (kind == BoundaryKind::Outflow) return m;
  const std::int64_t layers = high ? x[axis] - m.source[axis] : m.source[axis] - x[axis];
  m.distance = static_cast<double>(layers) * spacing;
  return m;
}

/// The condition's value, at the foot of an index on the face of a side.
class FaceValue {
 public:
  FaceValue(const LabelInfo& info, const Level& level, int side, double time)
      : level_(level),
        centering_(info.centering),
        axis_(side / 2),
        face_(side % 2 == 1 ? level.geometry().upper[axis_] : level.geometry().lower[axis_]),
        time_(time),
        value_(info.boundary.sides[static_cast<std::size_t>(side)]->value.evaluator()) {}

  double operator()(Index x) {
    Real3 p = level_.position(x, centering_);
    p[axis_] = face_;
    return value_(p.x, p.y, p.z, time_);
  }

 private:
  const Level& level_;
  Centering centering_;
  int axis_;
  double face_;
  double time_;
  Expression::Evaluator value_;
};

template <class T>
void fill(T* data, const Layout& layout, const LabelInfo& info, const Level& level, int side,
          const Box& region, double time) {
  const SideCondition& condition = *info.boundary.sides[static_cast<std::size_t>(side)];
  const int axis = side / 2;
  const bool border = onBorders(info.centering, axis);
  const Box domain = level.domainOf(info.centering);
  const int components = info.type.components;
  FaceValue value(info, level, side, time);
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) {
        const Index x{i, j, k};
        const Mirror m = mirrorOf(x, side, domain, border, level.spacing()[axis], condition.kind);
        T* to = data + layout.at(x) * components;
        const T* from = data + layout.at(m.source) * components;
        const double v = condition.kind == BoundaryKind::Outflow ? 0.0 : value(x);
        for (int c = 0; c < components; ++c) {
          switch (condition.kind) {
            case BoundaryKind::Dirichlet:
              to[c] = static_cast<T>(2.0 * v - static_cast<double>(from[c]));
              break;
            case BoundaryKind::Neumann:
              to[c] = static_cast<T>(static_cast<double>(from[c]) + m.distance * v);
              break;
            case BoundaryKind::Outflow:
              to[c] = from[c];
              break;
          }
        }
      }
    }
  }
}

}  // namespace

Index mirroredIndex(Index x, const LabelInfo& info, const Level& level, int side) {
  const SideCondition& condition = *info.boundary.sides[static_cast<std::size_t>(side)];
  return sourceOf(x, side, level.domainOf(info.centering), onBorders(info.centering, side / 2),
                  condition.kind);
}

void conditionValues(const LabelInfo& info, const Level& level, int side, const Box& region, double time,
                     std::span<double> values) {
  FaceValue value(info, level, side, time);
  std::size_t n = 0;
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) values[n++] = value({i, j, k});
    }
  }
}

void fillBoundary(std::byte* data, const Layout& layout, const LabelInfo& info, const Level& level, int side,
                  const Box& region, double time) {
  TESSERA_EXPECT(info.boundary.sides[static_cast<std::size_t>(side)].has_value(),
                 "give the side a condition");
  switch (info.type.scalar) {
    case Scalar::Float64:
      fill(reinterpret_cast<double*>(data), layout, info, level, side, region, time);
      break;
    case Scalar::Float32:
      fill(reinterpret_cast<float*>(data), layout, info, level, side, region, time);
      break;
    case Scalar::Int32:
      fill(reinterpret_cast<std::int32_t*>(data), layout, info, level, side, region, time);
      break;
    case Scalar::Int64:
      fill(reinterpret_cast<std::int64_t*>(data), layout, info, level, side, region, time);
      break;
  }
}

}  // namespace tessera
