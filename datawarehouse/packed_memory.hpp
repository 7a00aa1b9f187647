#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memory/packed_window.hpp"

namespace tessera {

/// Memory without a name that windows are mapped to page by page; it takes what has been written to. Owned by
/// the DataWarehouse.
class PageFile {
 public:
  PageFile() = default;
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  /// Whether this machine maps memory in pages of `kPageBytes`, to several addresses each.
  static bool works();

  /// The first of `pages` new pages. Not for several threads at once. Throws std::bad_alloc.
  std::int64_t add(std::int64_t pages);
  /// Of the pages that have been written to.
  std::int64_t residentBytes() const;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::int64_t pages_ = 0;
};

/// The addresses of a packed window, mapped to pages of a file; nothing has touched them yet. The file may be
/// gone before.
class PackedMemory {
 public:
  PackedMemory() = default;
  /// `firstPage`: of the pages that `file` has added for this window. Throws std::bad_alloc.
  PackedMemory(const PackedWindow& packed, std::int64_t elementBytes, const PageFile& file,
               std::int64_t firstPage);
  PackedMemory(PackedMemory&& other) noexcept;
  PackedMemory& operator=(PackedMemory&& other) noexcept;
  ~PackedMemory();

  /// Of `packed.window.lo`.
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera
