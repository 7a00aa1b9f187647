#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "core/exact_sum.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

/// The cells of a level whose centres lie in a box: lower <= centre < upper along resolved axes.
inline Box cellsWithin(const Level& level, const Real3& lower, const Real3& upper) {
  Box cells = level.domain();
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().active(d)) continue;
    const double origin = level.geometry().lower[d];
    const double h = level.spacing()[d];
    const double first = std::ceil((lower[d] - origin) / h - 0.5);
    const double last = std::ceil((upper[d] - origin) / h - 0.5);
    if (first > static_cast<double>(cells.lo[d]))
      cells.lo[d] = static_cast<std::int64_t>(std::min(first, 1e18));
    if (last < static_cast<double>(cells.hi[d]))
      cells.hi[d] = static_cast<std::int64_t>(std::max(last, -1e18));
  }
  return cells;
}

/// The cell of a level that a point of the domain lies in; that at the upper wall for a point on it.
inline Index cellAt(const Level& level, const Real3& place) {
  Index cell = level.domain().lo;
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().active(d)) continue;
    const double at = std::floor((place[d] - level.geometry().lower[d]) / level.spacing()[d]);
    cell[d] = std::clamp(static_cast<std::int64_t>(at), level.domain().lo[d], level.domain().hi[d] - 1);
  }
  return cell;
}

/// The axis that a centering of faces is normal to; -1 for cells and nodes.
constexpr int normalOf(Centering centering) {
  return centering == Centering::FaceX   ? 0
         : centering == Centering::FaceY ? 1
         : centering == Centering::FaceZ ? 2
                                         : -1;
}

/// Whether a box is a plane of faces: of no thickness along the normal of the faces looked at.
inline bool isPlaneOfFaces(const Geometry& geometry, Centering centering, const Real3& lower,
                           const Real3& upper) {
  const int normal = normalOf(centering);
  return normal >= 0 && geometry.active(normal) && lower[normal] == upper[normal];
}

/// What a region looks at on one level.
struct RegionPart {
  Box cells;
  bool isPlane = false;  ///< one face of each cell counts, with its area
  Index toFace{};        ///< from the index of the cell
  double measure = 1.0;  ///< volume of a cell, or area of a face
};

/// Of a plane, the upper faces of the cells below it; at the lower end of the domain the lower faces of the
/// cells above. So each place of the plane counts once, whatever levels meet there.
inline RegionPart partOf(const Level& level, Centering centering, const Real3& lower, const Real3& upper) {
  const Real3& h = level.spacing();
  RegionPart part{cellsWithin(level, lower, upper), false, {}, h.x * h.y * h.z};
  if (!isPlaneOfFaces(level.geometry(), centering, lower, upper)) return part;
  const int d = normalOf(centering);
  const auto face = static_cast<std::int64_t>(std::llround((lower[d] - level.geometry().lower[d]) / h[d]));
  const bool isAtBegin = face <= level.domain().lo[d];
  part.cells.lo[d] = isAtBegin ? level.domain().lo[d] : face - 1;
  part.cells.hi[d] = part.cells.lo[d] + 1;
  part.isPlane = true;
  if (!isAtBegin) part.toFace = unit(d);
  part.measure = h[(d + 1) % kAxes] * h[(d + 2) % kAxes];
  return part;
}

/// Calls `visit(Index)` for the cells of a box, x fastest.
template <class Visit>
void forEachCell(const Box& box, Visit&& visit) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) visit(Index{i, j, k});
    }
  }
}

/// Integral, volume (of a plane: area) and extrema of what counts in a patch.
struct RegionSums {
  ExactSum integral, volume;
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
};

template <class Task, class Values>
RegionSums sumsOver(const Task& task, const Values& u, const RegionPart& region) {
  RegionSums sums;
  const auto look = [&](double value) {
    sums.least = std::min(sums.least, value);
    sums.largest = std::max(sums.largest, value);
  };
  task.forEachUncovered([&](const Box& box) {
    forEachCell(intersect(box, region.cells), [&](Index x) {
      sums.volume.add(region.measure);
      if (region.isPlane) {
        const double value = u.field()(x + region.toFace);
        sums.integral.add(value * region.measure);
        look(value);
      } else {
        sums.integral.add(u(x) * region.measure);
        u.forEach(x, look);
      }
    });
  });
  return sums;
}

/// Whether the patch has the finest cell at an index.
template <class Task>
bool hasFinest(const Task& task, Index cell) {
  bool found = false;
  task.forEachUncovered([&](const Box& box) { found = found || box.contains(cell); });
  return found;
}

/// The shell around a point that a cell centre lies in; `bins` or more beyond the last.
inline std::int64_t shellOf(const Level& level, Index cell, const Real3& centre, double width) {
  const Real3 place = level.position(cell, Centering::Cell);
  double square = 0.0;
  for (int d = 0; d < kAxes; ++d) {
    if (!level.geometry().active(d)) continue;
    square += (place[d] - centre[d]) * (place[d] - centre[d]);
  }
  return static_cast<std::int64_t>(std::min(std::sqrt(square) / width, 1e9));
}

/// Gives the shares of a patch in the integrals and volumes of all shells, a few shells a pass: a task shall
/// ask for no memory.
template <class Task, class Field>
void contributeShells(const Task& task, const Field& u, const Real3& centre, double width,
                      std::span<const ReductionLabel> integrals, std::span<const ReductionLabel> volumes) {
  constexpr std::size_t kAtOnce = 16;
  const Real3& h = task.spacing();
  const double cell = h.x * h.y * h.z;
  for (std::size_t first = 0; first < integrals.size(); first += kAtOnce) {
    std::array<ExactSum, kAtOnce> sums;
    std::array<ExactSum, kAtOnce> cells;
    const std::size_t count = std::min(kAtOnce, integrals.size() - first);
    task.forEachUncovered([&](const Box& box) {
      forEachCell(box, [&](Index x) {
        const auto shell = static_cast<std::size_t>(shellOf(task.level(), x, centre, width));
        if (shell < first || shell >= first + count) return;
        sums[shell - first].add(u(x) * cell);
        cells[shell - first].add(cell);
      });
    });
    for (std::size_t n = 0; n < count; ++n) {
      task.contribute(integrals[first + n], sums[n]);
      task.contribute(volumes[first + n], cells[n]);
    }
  }
}

/// How long a state that begins a step of length `dt` counts, and how long states before it have, for
/// statistics that begin at `from`.
struct StateWeight {
  double before = 0.0;
  double now = 0.0;
};

inline StateWeight weightOf(double time, double dt, double from) {
  return {std::max(0.0, time - from), std::clamp(time + dt - from, 0.0, dt)};
}

}  // namespace tessera
