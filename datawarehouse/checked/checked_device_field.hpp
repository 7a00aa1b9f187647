#pragma once

#include <cstring>
#include <type_traits>

#include "core/exec/kernel_call.hpp"
#include "datawarehouse/task_frame.hpp"

namespace tessera {

/// What CheckedField is on the host: a field of a device that compares every index with the declaration and
/// marks what is written. A kernel that touches an index outside notes it, gets a number of which each byte
/// is 0xFF (a NaN), or writes nowhere, and goes on; the host reports it. Reads give values, so nobody can
/// change an input through one. Trivially copyable.
template <class T>
class CheckedDeviceField {
 public:
  using Value = std::remove_const_t<T>;
  using Result = std::conditional_t<std::is_const_v<T>, Value, T&>;

  CheckedDeviceField() = default;
  explicit CheckedDeviceField(const TaskAccess& access)
      : field_(reinterpret_cast<T*>(access.data), access.layout),
        allowed_(access.declared),
        isFlatJ_(access.layout.strideJ == 0),
        isFlatK_(access.layout.strideK == 0),
        facesOnly_(access.facesOnly),
        holes_(access.holes),
        inner_(access.inner),
        findings_(access.findings),
        marks_(access.marks) {}

  TESSERA_KERNEL_CALL Result operator()(Index x) const {
    Index inside = x;  // an unresolved axis has stride 0: any index names the same element
    if (isFlatJ_) inside.j = allowed_.lo.j;
    if (isFlatK_) inside.k = allowed_.lo.k;
    if (!allowed_.contains(inside)) {
      findings_.note(KernelError::Outside, {x - allowed_.lo});
      return nothing();
    }
    if constexpr (!std::is_const_v<T>) {
      if (marks_ != nullptr) mark(inside - allowed_.lo);
    } else if (facesOnly_ && isAtEdge(inside)) {
      findings_.note(KernelError::BesideEdge, {inside - allowed_.lo});
      return nothing();
    } else if (holes_ && isUnset(field_(x))) {
      findings_.note(KernelError::Uncovered, {inside - allowed_.lo});
    }
    return field_(x);
  }

 private:
  /// Outside of the patch along more than one axis.
  TESSERA_KERNEL bool isAtEdge(Index x) const {
    const int i = x.i < inner_.lo.i || x.i >= inner_.hi.i ? 1 : 0;
    const int j = x.j < inner_.lo.j || x.j >= inner_.hi.j ? 1 : 0;
    const int k = x.k < inner_.lo.k || x.k >= inner_.hi.k ? 1 : 0;
    return i + j + k > 1;
  }
  /// Memory that nobody wrote is 0xFF, in checked mode also what was gathered before.
  TESSERA_KERNEL static bool isUnset(const Value& value) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (std::size_t n = 0; n < sizeof(value); ++n) {
      if (bytes[n] != 0xFF) return false;
    }
    return true;
  }
  static_assert(sizeof(T) <= KernelErrors::kNowhereBytes);

  TESSERA_KERNEL Result nothing() const {
    if constexpr (std::is_const_v<T>) {
      Value value;
      memset(static_cast<void*>(&value), 0xFF, sizeof(value));
      return value;
    } else {
      return *static_cast<T*>(findings_.nowhere);
    }
  }
  TESSERA_KERNEL void mark(Index relative) const {
    const Extent n = allowed_.extent();
    marks_[(relative.k * n.j + relative.j) * n.i + relative.i] = 1;
  }

  Field<T> field_;
  Box allowed_;
  bool isFlatJ_ = false;
  bool isFlatK_ = false;
  bool facesOnly_ = false;
  bool holes_ = false;
  Box inner_;
  KernelErrors findings_;
  std::uint8_t* marks_ = nullptr;
};

static_assert(std::is_trivially_copyable_v<CheckedDeviceField<const double>>);

}  // namespace tessera
