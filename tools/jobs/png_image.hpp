#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera::jobs {

/// A picture of 8-bit colours that is written as a PNG file.
class PngImage {
 public:
  PngImage(std::int64_t width, std::int64_t height);

  /// Values from 0 to 1; others are cut. Row 0 is at the top.
  void set(std::int64_t x, std::int64_t y, double red, double green, double blue);
  void setGrey(std::int64_t x, std::int64_t y, double value) { set(x, y, value, value, value); }
  /// Throws OutputError.
  void write(const std::filesystem::path& file) const;

 private:
  std::int64_t width_;
  std::int64_t height_;
  std::vector<std::uint8_t> rows_;  ///< a byte for the filter before each row
};

}  // namespace tessera::jobs
