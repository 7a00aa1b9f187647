#pragma once

#include <type_traits>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"

namespace tessera {

/// Where the elements of one variable on one patch lie: a box of indices, x fastest. An axis that
/// carries no halo (an unresolved y or z) has stride 0, so a stencil across it reads the cell itself.
struct Layout {
  Box window;                ///< indices with an address
  std::int64_t strideJ = 0;  ///< elements from (i, j, k) to (i, j + 1, k)
  std::int64_t strideK = 0;

  constexpr Layout() = default;
  /// `flat[axis]` marks the axes of stride 0; their window is one index thick.
  constexpr Layout(const Box& box, bool flatJ, bool flatK)
      : window(box),
        strideJ(flatJ ? 0 : box.extent().i),
        strideK(flatK ? 0 : box.extent().i * box.extent().j) {}

  TESSERA_KERNEL constexpr std::int64_t at(Index x) const {
    return (x.i - window.lo.i) + (x.j - window.lo.j) * strideJ + (x.k - window.lo.k) * strideK;
  }
  /// Indices of the window.
  constexpr std::int64_t elements() const {
    return window.extent().i * window.extent().j * window.extent().k;
  }
  /// Elements from the first to behind the last one, with what lies between rows.
  constexpr std::int64_t span() const {
    const Extent n = window.extent();
    return n.i + (n.j - 1) * strideJ + (n.k - 1) * strideK;
  }
};

/// A view of one variable on one patch. Trivially copyable: kernels capture it by value. Valid while the task
/// that asked for it runs. Indices outside the declared region are the author's fault; checked mode finds
/// them.
template <class T>
class Field {
 public:
  Field() = default;
  Field(T* data, const Layout& layout)
      : data_(data), strideJ_(layout.strideJ), strideK_(layout.strideK), offset_(layout.at(Index{})) {}

  TESSERA_KERNEL T& operator()(Index x) const {
    return data_[x.i + x.j * strideJ_ + x.k * strideK_ + offset_];
  }

 private:
  T* data_ = nullptr;
  std::int64_t strideJ_ = 0;
  std::int64_t strideK_ = 0;
  std::int64_t offset_ = 0;  ///< element of index (0, 0, 0), which may lie outside the window
};

static_assert(std::is_trivially_copyable_v<Field<double>>);

}  // namespace tessera
