#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "core/memory/element_type.hpp"

// The little of serial HDF5 that field output needs. Private to the .cpp files of the archive.
namespace tessera::detail {

/// While it lives, HDF5 prints no error stacks; its errors become sentences through `hdf5Reason`.
class QuietHdf5 {
 public:
  QuietHdf5();
  ~QuietHdf5();
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// The innermost description of HDF5's error stack, for example "file signature not found".
std::string hdf5Reason();

/// Owns one HDF5 id and closes it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Closes now; false when HDF5 reports a failure.
  bool reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// The type of a number in a file (little-endian IEEE or two's complement).
hid_t fileType(Scalar scalar);
/// The type of a number in memory.
hid_t memoryType(Scalar scalar);

}  // namespace tessera::detail
