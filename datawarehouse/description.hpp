#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "datawarehouse/field.hpp"
#include "datawarehouse/status.hpp"
#include "grid/label.hpp"
#include "grid/patch.hpp"

namespace tessera {

/// Buffers start at a multiple of this many bytes: a cache line, and a vector of AVX-512.
inline constexpr std::size_t kBufferAlignment = 64;

namespace detail {

struct FreeAligned {
  void operator()(std::byte* bytes) const;
  std::size_t alignment = kBufferAlignment;
};

}  // namespace detail

/// Host memory that starts at a multiple of kBufferAlignment; nothing has touched its pages yet, so they
/// come to lie near the thread that writes them first.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// Throws std::bad_alloc. `alignment` is a power of two.
  explicit AlignedMemory(std::int64_t bytes, std::size_t alignment = kBufferAlignment);

  std::byte* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<std::byte[], detail::FreeAligned> bytes_;
};

/// `bytes` and what fills the last cache line, or the last piece of another size.
std::int64_t paddedBytes(std::int64_t bytes, std::size_t piece = kBufferAlignment);

/// Layout, memory and status of one generation of one variable over one box. One entry of the warehouse uses
/// it, or several whose boxes overlap widely. Owned by the DataWarehouse. Pointer and layout stay the same
/// from the moment its memory is allocated; what happens to its values is told by `status`.
struct Description {
  std::byte* data = nullptr;
  Layout layout;
  LabelId label = -1;
  PatchId patch = -1;  ///< the smallest of those that use it
  int entries = 1;     ///< that use it
  std::int64_t bytes = 0;
  std::int32_t allocation = -1;  ///< where its memory is; other descriptions may use it at other times
  Status status;
  /// In a shared description, by entry (in the order of the warehouse): where the values that the entry owns
  /// are valid. Entries may be written in different spaces, by threads that do not synchronize.
  std::unique_ptr<Status[]> values;  // NOLINT: atomics do not move
};

}  // namespace tessera
