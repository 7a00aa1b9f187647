#pragma once

#include <cstdint>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera::jobs {

/// A part of a domain as a body sees it, on the host or on a device: the elements of a box, by the indices
/// of the whole domain. Plain: copy it. An index outside of the part is the body's mistake.
template <class T>
struct Array {
  T* first = nullptr;  ///< the element at `lo`
  Index lo;
  std::int64_t strideJ = 0;  ///< in elements
  std::int64_t strideK = 0;

  TESSERA_KERNEL T& operator()(Index x) const {
    return first[(x.i - lo.i) + (x.j - lo.j) * strideJ + (x.k - lo.k) * strideK];
  }
  TESSERA_KERNEL T& operator()(std::int64_t i) const { return first[i - lo.i]; }
  TESSERA_KERNEL T& operator()(std::int64_t i, std::int64_t j) const {
    return first[(i - lo.i) + (j - lo.j) * strideJ];
  }
};

/// Sums as a body sees them: it adds, and never reads. What it adds lies apart for each place where tasks
/// run, until the job has ended.
struct SumArray {
  Array<std::int64_t> sums;
  double scale = 1.0;  ///< one over the resolution

  /// Adds the multiple of the resolution that is nearest to `value`.
  TESSERA_KERNEL void add(Index x, double value) const { addWhole(x, whole(value)); }

  /// That multiple. A unit that adds to one place again and again adds these up by itself and gives all of
  /// them to `addWhole` at its end: the same bits, without a thousand threads that wait for one place.
  TESSERA_KERNEL std::int64_t whole(double value) const {
    const double scaled = value * scale;
    return static_cast<std::int64_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  }
  TESSERA_KERNEL void addWhole(Index x, std::int64_t value) const {
    std::int64_t& sum = sums(x);
#if defined(__CUDA_ARCH__)
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(value));
#else
    sum += value;  // the lanes of a host thread take turns
#endif
  }
};

}  // namespace tessera::jobs
