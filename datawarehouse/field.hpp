#pragma once

#include <type_traits>

#include "core/geometry/box.hpp"
#include "core/kernel.hpp"
#include "core/memory/element_type.hpp"

namespace tessera {

/// Where the elements of one variable on one patch lie: a box of indices, x fastest. An axis that
/// carries no halo (an unresolved y or z) has stride 0, so a stencil across it reads the cell itself.
/// Components of a variable lie one behind the other.
struct Layout {
  Box window;                ///< indices with an address
  std::int64_t strideJ = 0;  ///< elements from (i, j, k) to (i, j + 1, k)
  std::int64_t strideK = 0;
  std::int64_t strideC = 0;  ///< elements from a component to the next

  constexpr Layout() = default;
  /// `flat[axis]` marks the axes of stride 0; their window is one index thick.
  constexpr Layout(const Box& box, bool flatJ, bool flatK)
      : window(box),
        strideJ(flatJ ? 0 : box.extent().i),
        strideK(flatK ? 0 : box.extent().i * box.extent().j),
        strideC(box.extent().i * box.extent().j * box.extent().k) {}

  TESSERA_KERNEL constexpr std::int64_t at(Index x) const {
    return (x.i - window.lo.i) + (x.j - window.lo.j) * strideJ + (x.k - window.lo.k) * strideK;
  }
  /// Indices of the window: elements of one component, where there is nothing between rows.
  constexpr std::int64_t elements() const {
    return window.extent().i * window.extent().j * window.extent().k;
  }
  /// Elements of one component from the first to behind the last one, with what lies between rows.
  constexpr std::int64_t span() const {
    const Extent n = window.extent();
    return n.i + (n.j - 1) * strideJ + (n.k - 1) * strideK;
  }
  /// Bytes from the first number to behind the last one of all components.
  constexpr std::int64_t bytes(const ElementType& type) const {
    return ((type.planes() - 1) * strideC + span()) * type.elementBytes();
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
  /// The same window so many elements further on.
  TESSERA_KERNEL Field behind(std::int64_t elements) const {
    Field moved = *this;
    moved.data_ += elements;
    return moved;
  }

 private:
  T* data_ = nullptr;
  std::int64_t strideJ_ = 0;
  std::int64_t strideK_ = 0;
  std::int64_t offset_ = 0;  ///< element of index (0, 0, 0), which may lie outside the window
};

static_assert(std::is_trivially_copyable_v<Field<double>>);

}  // namespace tessera
