#pragma once

#include <algorithm>
#include <limits>

#include "core/box.hpp"
#include "core/exact_sum.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Where a kernel runs. A component writes one body; the tag decides what its fields and loops become.
struct Cpu {};      ///< one worker thread of the host, plain fields
struct Checked {};  ///< as Cpu, with every access compared with what the task declared
struct Gpu {};      ///< a stream of a device

/// How contributions of patches are joined. Distinct types, so that `reduce` can return the right thing.
struct MinTag {};
struct MaxTag {};
struct SumTag {};
inline constexpr MinTag Min{};
inline constexpr MaxTag Max{};
inline constexpr SumTag Sum{};

/// Runs `kernel(Index)` once for each index of `box`, x fastest; iterations must not depend on one another: a
/// sum across them is `reduce`'s, since here clang would add in another order, and checked runs had other
/// bits. On the CPU it is a plain loop nest inside the calling thread, which the compiler vectorises along x;
/// `name` is what profilers show. All that the kernel calls is inlined (flatten): a call left in the loop
/// would end vectorisation. Not so under a sanitizer, where inlining everything takes minutes to compile.
template <class Exec, class Kernel>
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
[[gnu::flatten]]
#endif
inline void
forEach(Exec, const char* /*name*/, const Box& box, Kernel&& kernel) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) kernel(Index{i, j, k});
    }
  }
}

namespace detail {

/// As forEach, in order: for loops whose iterations share a result.
template <class Kernel>
inline void forEachInOrder(const Box& box, Kernel&& kernel) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) kernel(Index{i, j, k});
    }
  }
}

}  // namespace detail

/// The smallest `kernel(Index)` over the box; +infinity for an empty box.
template <class Exec, class Kernel>
double reduce(Exec, const char* /*name*/, const Box& box, MinTag, Kernel&& kernel) {
  double result = std::numeric_limits<double>::infinity();
  detail::forEachInOrder(box, [&](Index x) { result = std::min(result, static_cast<double>(kernel(x))); });
  return result;
}

/// The largest `kernel(Index)` over the box; -infinity for an empty box.
template <class Exec, class Kernel>
double reduce(Exec, const char* /*name*/, const Box& box, MaxTag, Kernel&& kernel) {
  double result = -std::numeric_limits<double>::infinity();
  detail::forEachInOrder(box, [&](Index x) { result = std::max(result, static_cast<double>(kernel(x))); });
  return result;
}

/// The exact sum of `kernel(Index)` over the box: the same for any order, patch layout and rank count.
template <class Exec, class Kernel>
ExactSum reduce(Exec, const char* /*name*/, const Box& box, SumTag, Kernel&& kernel) {
  ExactSum sum;
  detail::forEachInOrder(box, [&](Index x) { sum.add(static_cast<double>(kernel(x))); });
  return sum;
}

}  // namespace tessera
