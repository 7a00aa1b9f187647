#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datawarehouse/archive/detail/posix_file.hpp"

namespace tessera::detail {

/// Writes of a few bytes each that lie one behind another in a file, handed to the system many at a time: a
/// patch of 8^3 cells has less data than a call of the system costs time. One thread at a time.
class GatheredWrites {
 public:
  /// Both outlive the object.
  GatheredWrites(const File& file, const FileOps& ops) : file_(file), ops_(ops) {}

  /// Writes all bytes at `offset`, now or by the next call. Throws IoError, also of bytes before.
  void put(std::int64_t offset, std::span<const std::byte> bytes) {
    const bool follows = offset == offset_ + static_cast<std::int64_t>(waiting_.size());
    if (!follows || waiting_.size() + bytes.size() > kMost) flush();
    if (bytes.size() >= kMost / 4) {
      flush();
      file_.writeAt(ops_, bytes, offset);
      return;
    }
    if (waiting_.empty()) offset_ = offset;
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  }
  /// Writes what is left. Without this call it is lost.
  void flush() {
    if (waiting_.empty()) return;
    file_.writeAt(ops_, waiting_, offset_);
    waiting_.clear();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  const File& file_;
  const FileOps& ops_;
  std::int64_t offset_ = 0;  ///< of the first byte that waits
  std::vector<std::byte> waiting_;
};

}  // namespace tessera::detail
