#pragma once

#include <cstdint>
#include <type_traits>

#include "core/kernel.hpp"
#include "datawarehouse/field.hpp"
#include "datawarehouse/read_only_field.hpp"

namespace tessera {

/// The components of one variable on one patch: `u[c](x)` is component c at x. `FieldOfOne` is what one
/// component is seen as. Trivially copyable: kernels capture it by value; a loop over x with the same c runs
/// through contiguous memory, so take `const auto density = u[0]` where c is known.
template <class FieldOfOne>
class ComponentFields {
 public:
  ComponentFields() = default;
  /// `first`: of component 0.
  ComponentFields(const FieldOfOne& first, const Layout& layout, std::int32_t count)
      : first_(first), stride_(layout.strideC), count_(count) {}

  TESSERA_KERNEL FieldOfOne operator[](std::int32_t component) const {
    return first_.behind(component * stride_);
  }
  TESSERA_KERNEL std::int32_t count() const { return count_; }

 private:
  FieldOfOne first_;
  std::int64_t stride_ = 0;
  std::int32_t count_ = 0;
};

static_assert(std::is_trivially_copyable_v<ComponentFields<Field<double>>>);

}  // namespace tessera
