#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera::detail {

static_assert(std::endian::native == std::endian::little, "checkpoint files are little-endian");

/// Appends numbers and texts to a buffer, little-endian, without padding.
class ByteSink {
 public:
  template <class T>
  ByteSink& put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    return append(&value, sizeof value);
  }
  ByteSink& putText(std::string_view text) { return append(text.data(), text.size()); }
  ByteSink& putBytes(std::span<const std::byte> more) { return append(more.data(), more.size()); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  ByteSink& append(const void* from, std::size_t count) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + count);
    if (count > 0) std::memcpy(bytes_.data() + at, from, count);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// Takes numbers and texts from a buffer. Beyond its end it gives zeros and `failed()` turns true, so a
/// caller checks once after a group of reads.
class ByteSource {
 public:
  explicit ByteSource(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  std::string takeText(std::size_t length) {
    if (rest_.size() < length) {
      failed_ = true;
      return {};
    }
    std::string text(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return text;
  }
  bool failed() const { return failed_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace tessera::detail
