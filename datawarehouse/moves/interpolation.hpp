#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/kernel.hpp"

// What coarse numbers say between them: the values of halos beyond a refined region, the same code on host
// and devices. Numbers of a linear function, where they and its slopes are exact, come out exactly. Mirrored
// numbers give mirrored values, bit by bit.
namespace tessera::detail {

/// A fine index among the coarse numbers around it.
struct FinePlace {
  const std::byte* at = nullptr;           ///< the number of the coarse index below
  std::int64_t step[3] = {0, 0, 0};        // NOLINT: bytes to the next coarse index, along each axis
  std::uint16_t ratio[3] = {1, 1, 1};      // NOLINT: 1 along an axis that is not refined
  std::uint16_t fromBelow[3] = {0, 0, 0};  // NOLINT: fine indices from the first one of the coarse index
  std::uint8_t borders = 0;                ///< bit d: along axis d the indices are borders of cells

  TESSERA_KERNEL bool isBorder(int d) const { return ((borders >> d) & 1) != 0; }
  TESSERA_KERNEL bool hasSlope(int d) const { return ratio[d] > 1 && !isBorder(d); }
  /// From the centre of the coarse cell to that of the fine one, in coarse cells.
  TESSERA_KERNEL double offset(int d) const {
    return (2.0 * fromBelow[d] + 1.0 - ratio[d]) / (2.0 * ratio[d]);
  }
  /// The largest of them.
  TESSERA_KERNEL double furthest(int d) const { return (ratio[d] - 1.0) / (2.0 * ratio[d]); }
};

template <class T>
TESSERA_KERNEL double numberAt(const std::byte* at) {
  return static_cast<double>(*reinterpret_cast<const T*>(at));
}

/// On the straight line through a coarse cell, by central differences.
template <class T>
TESSERA_KERNEL double onLine(const FinePlace& place, const std::byte* at) {
  double change = 0.0;
  for (int d = 0; d < 3; ++d) {
    if (!place.hasSlope(d)) continue;
    const double across = numberAt<T>(at + place.step[d]) - numberAt<T>(at - place.step[d]);
    change += 0.5 * across * place.offset(d);
  }
  return numberAt<T>(at) + change;
}

struct LeastAndLargest {
  double least;
  double largest;
};

/// Of a coarse cell and all that touch it.
template <class T>
TESSERA_KERNEL LeastAndLargest rangeAround(const FinePlace& place, const std::byte* at) {
  LeastAndLargest range{numberAt<T>(at), numberAt<T>(at)};
  const int wide[3] = {place.hasSlope(0) ? 1 : 0, place.hasSlope(1) ? 1 : 0,  // NOLINT
                       place.hasSlope(2) ? 1 : 0};
  for (int k = -wide[2]; k <= wide[2]; ++k) {
    for (int j = -wide[1]; j <= wide[1]; ++j) {
      for (int i = -wide[0]; i <= wide[0]; ++i) {
        const double u = numberAt<T>(at + i * place.step[0] + j * place.step[1] + k * place.step[2]);
        if (u < range.least) range.least = u;
        if (u > range.largest) range.largest = u;
      }
    }
  }
  return range;
}

/// The slope of a coarse cell from the differences to its neighbours: none at an extremum, and no neighbour
/// is passed within half a cell.
TESSERA_KERNEL inline double limitedSlope(double below, double above) {
  if (!(below * above > 0.0)) return 0.0;
  const double mean = 0.5 * (below + above);
  const double steep = 2.0 * (std::fabs(below) < std::fabs(above) ? below : above);
  return std::fabs(mean) < std::fabs(steep) ? mean : steep;
}

/// The same with limited slopes, all of them made less steep where a fine cell in the coarse one would pass
/// the least or the largest value around. The same for all fine cells in a coarse one.
struct LimitedLine {
  double u = 0.0;                     ///< of the coarse cell
  double slope[3] = {0.0, 0.0, 0.0};  // NOLINT: a std::array's operator[] is no device function
  double most = 0.0;                  ///< that they may change it by; 0: not at all
  double room = 0.0;                  ///< that they are allowed
  LeastAndLargest range{0.0, 0.0};

  TESSERA_KERNEL double at(const FinePlace& place) const {
    if (!(most > 0.0)) return u;
    double change = 0.0;
    for (int d = 0; d < 3; ++d) {
      if (place.hasSlope(d)) change += slope[d] * place.offset(d);
    }
    const double value = u + (most > room ? change * (room / most) : change);
    return value < range.least ? range.least : value > range.largest ? range.largest : value;
  }
};

template <class T>
TESSERA_KERNEL LimitedLine limitedLine(const FinePlace& place, const std::byte* at) {
  LimitedLine line;
  line.u = numberAt<T>(at);
  for (int d = 0; d < 3; ++d) {
    if (!place.hasSlope(d)) continue;
    line.slope[d] =
        limitedSlope(line.u - numberAt<T>(at - place.step[d]), numberAt<T>(at + place.step[d]) - line.u);
    line.most += std::fabs(line.slope[d]) * place.furthest(d);
  }
  if (!(line.most > 0.0)) return line;
  line.range = rangeAround<T>(place, at);
  const double up = line.range.largest - line.u;
  const double down = line.u - line.range.least;
  line.room = up < down ? up : down;
  return line;
}

template <class T>
TESSERA_KERNEL double onLimitedLine(const FinePlace& place, const std::byte* at) {
  return limitedLine<T>(place, at).at(place);
}

template <class T>
TESSERA_KERNEL double onOneLine(const FinePlace& place, const std::byte* at, bool limits) {
  return limits ? onLimitedLine<T>(place, at) : onLine<T>(place, at);
}

/// The value at a fine index. Between coarse borders both count, by their distances.
template <class T>
TESSERA_KERNEL double interpolated(const FinePlace& place, bool limits) {
  if (place.borders == 0) return onOneLine<T>(place, place.at, limits);
  double weight[3][2];  // NOLINT: a std::array's operator[] is no device function
  for (int d = 0; d < 3; ++d) {
    const double above = place.isBorder(d) ? static_cast<double>(place.fromBelow[d]) / place.ratio[d] : 0.0;
    weight[d][0] = 1.0 - above;
    weight[d][1] = above;
  }
  double value = 0.0;
  for (int k = 0; k < 2; ++k) {
    double plane = 0.0;
    for (int j = 0; j < 2; ++j) {
      double row = 0.0;
      for (int i = 0; i < 2; ++i) {
        const double part = weight[0][i] * weight[1][j] * weight[2][k];
        if (!(part > 0.0)) continue;
        row +=
            part *
            onOneLine<T>(place, place.at + i * place.step[0] + j * place.step[1] + k * place.step[2], limits);
      }
      plane += row;
    }
    value += plane;
  }
  return value;
}

}  // namespace tessera::detail
