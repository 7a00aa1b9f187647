#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/exact_sum.hpp"
#include "core/exec/prefetcher.hpp"
#include "core/exec/wide_vectors.hpp"
#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Hears where a loop has been, part by part, while what it wrote there is still in the nearest cache.
class LoopWatch {
 public:
  /// Whether there is something to look at in the loop of that name; only then are the others called.
  virtual bool begins(const char* loop) = 0;
  virtual void passed(const Box& part) = 0;
  /// After all parts of `box`.
  virtual void finished(const Box& box) = 0;

 protected:
  ~LoopWatch() = default;
};

/// Where a kernel runs. A component writes one body; the tag decides what its fields and loops become.
struct Cpu {
  LoopWatch* watch = nullptr;   ///< asked before each loop; may be empty
  Prefetcher* ahead = nullptr;  ///< what to ask for between rows, for the task that comes next
};
/// As Cpu, with every access compared with what the task declared.
struct Checked {
  LoopWatch* watch = nullptr;  ///< hears the names of loops alone; may be empty
};
class DeviceLoops;
/// Knows which loops of a body compute final values, and tells a device before such a loop.
class LoopFinals {
 public:
  virtual void announce(const char* loop, DeviceLoops& loops) const = 0;

 protected:
  ~LoopFinals() = default;
};
/// A device; loops are recorded and launched for many patches at once (core/exec/device_exec.hpp).
struct Gpu {
  DeviceLoops* loops = nullptr;
  const LoopFinals* finals = nullptr;  ///< may be empty
};
struct CheckedGpu {  ///< as Gpu, with every access compared with what the task declared
  DeviceLoops* loops = nullptr;
};

/// How contributions of patches are joined. Distinct types, so that `reduce` can return the right thing.
struct MinTag {};
struct MaxTag {};
struct SumTag {};
inline constexpr MinTag Min{};
inline constexpr MaxTag Max{};
inline constexpr SumTag Sum{};

/// What a loop calls for each of its indices: [=] TESSERA_KERNEL(Index x) { ... }.
template <class Kernel>
concept IndexKernel = std::is_invocable_v<const Kernel&, Index>;

namespace detail {

template <class Exec>
inline constexpr bool kIsExec = std::is_same_v<Exec, Cpu> || std::is_same_v<Exec, Checked> ||
                                std::is_same_v<Exec, Gpu> || std::is_same_v<Exec, CheckedGpu>;

/// Ends a compilation of a loop that is called in another way than loops are.
template <class Exec, class Kernel>
constexpr void requireKernel() {
  static_assert(kIsExec<Exec>, "the first argument of forEach and reduce is task.exec()");
  static_assert(
      IndexKernel<Kernel>,
      "the last argument of forEach and reduce is a kernel that takes an index and changes nothing it has "
      "captured by value: [=] TESSERA_KERNEL(Index x) { ... }");
}

/// The loops of forEach. The kernel is a copy of our own, so what it captured by value stays in registers.
template <class Kernel>
inline void loopOver(const Box box, const Kernel kernel, Prefetcher* const ahead) {
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) kernel(Index{i, j, k});
      if (ahead != nullptr) ahead->afterRow();
    }
  }
}

/// Calls `visit(Box)` with parts of whole rows of about `indices` indices, in the order of forEach.
template <class Visit>
void forEachPart(const Box& box, std::int64_t indices, Visit&& visit) {
  if (box.empty()) return;
  const Extent n = box.extent();
  const std::int64_t rows = std::max<std::int64_t>(1, indices / n.i);
  const std::int64_t planes = std::max<std::int64_t>(1, rows / n.j);
  const std::int64_t rowsAtOnce = std::min(rows, n.j);
  for (std::int64_t k = box.lo.k; k < box.hi.k; k += planes) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; j += rowsAtOnce) {
      visit(Box{{box.lo.i, j, k},
                {box.hi.i, std::min(j + rowsAtOnce, box.hi.j), std::min(k + planes, box.hi.k)}});
    }
  }
}

/// Indices of a part that a watch looks at: 32 KiB of doubles.
inline constexpr std::int64_t kWatchedPart = 4096;

}  // namespace detail

/// Runs `kernel(Index)` once for each index of `box`, x fastest; iterations must not depend on one another: a
/// sum across them is `reduce`'s, since here clang would add in another order, and checked runs had other
/// bits. On the CPU it is a plain loop nest inside the calling thread, which the compiler vectorises along x
/// (see withWideVectors); `name` is what profilers show. The kernel is copied, as it is for a device.
template <class Exec, class Kernel>
void forEach([[maybe_unused]] Exec exec, [[maybe_unused]] const char* name, const Box& box,
             const Kernel& kernel) {
  detail::requireKernel<Exec, Kernel>();
  static_assert(!std::is_same_v<Exec, Gpu> && !std::is_same_v<Exec, CheckedGpu>,
                "include core/exec/device_exec.hpp");
  if constexpr (std::is_same_v<Exec, Cpu>) {
    // One call of withWideVectors for loops with and without a watch: each is compiled twice, all inlined.
    LoopWatch* const watch = exec.watch != nullptr && exec.watch->begins(name) ? exec.watch : nullptr;
    const std::int64_t indices = watch != nullptr ? detail::kWatchedPart : box.volume();
    detail::forEachPart(box, indices, [&](const Box& part) {
      withWideVectors([part, kernel, ahead = exec.ahead] { detail::loopOver(part, kernel, ahead); });
      if (watch != nullptr) watch->passed(part);
    });
    if (watch != nullptr) watch->finished(box);
  } else {
    if (exec.watch != nullptr) exec.watch->begins(name);
    detail::loopOver(box, kernel, nullptr);
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

/// The smallest `kernel(Index)` over the box; +infinity for an empty box. NaN is passed over, and 0 has no
/// sign, so that the bits do not depend on the order.
template <class Exec, class Kernel>
double reduce(Exec, const char* /*name*/, const Box& box, MinTag, Kernel&& kernel) {
  detail::requireKernel<Exec, Kernel>();
  double result = std::numeric_limits<double>::infinity();
  detail::forEachInOrder(box, [&](Index x) { result = std::min(result, static_cast<double>(kernel(x))); });
  return result + 0.0;  // -0 becomes 0
}

/// The largest `kernel(Index)` over the box; -infinity for an empty box. NaN and 0 as for the smallest.
template <class Exec, class Kernel>
double reduce(Exec, const char* /*name*/, const Box& box, MaxTag, Kernel&& kernel) {
  detail::requireKernel<Exec, Kernel>();
  double result = -std::numeric_limits<double>::infinity();
  detail::forEachInOrder(box, [&](Index x) { result = std::max(result, static_cast<double>(kernel(x))); });
  return result + 0.0;  // -0 becomes 0
}

/// The exact sum of `kernel(Index)` over the box: the same for any order, patch layout and rank count.
template <class Exec, class Kernel>
ExactSum reduce(Exec, const char* /*name*/, const Box& box, SumTag, Kernel&& kernel) {
  detail::requireKernel<Exec, Kernel>();
  ExactSum sum;
  detail::forEachInOrder(box, [&](Index x) { sum.add(static_cast<double>(kernel(x))); });
  return sum;
}

}  // namespace tessera
