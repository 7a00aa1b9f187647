#pragma once

#include <type_traits>

#include "datawarehouse/field.hpp"

namespace tessera {

/// A field that no one writes while the kernel runs that reads it: not the kernel itself either, through
/// another field on the same memory, as a task may that changes what it reads. It gives values, and a GPU may
/// load them ahead of the kernel's own writes, which a plain Field forbids it to.
template <class T>
class ReadOnlyField {
 public:
  ReadOnlyField() = default;
  ReadOnlyField(const T* data, const Layout& layout) : field_(data, layout) {}

  TESSERA_KERNEL T operator()(Index x) const {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) return __ldg(&field_(x));
#endif
    return field_(x);
  }
  TESSERA_KERNEL ReadOnlyField behind(std::int64_t elements) const {
    ReadOnlyField moved;
    moved.field_ = field_.behind(elements);
    return moved;
  }

 private:
  Field<const T> field_;
};

static_assert(std::is_trivially_copyable_v<ReadOnlyField<double>>);

}  // namespace tessera
