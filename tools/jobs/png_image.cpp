#include "tools/jobs/png_image.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <zlib.h>

#include "core/text/error.hpp"

namespace tessera::jobs {
namespace {

std::string bigEndian(std::uint32_t word) {
  return {static_cast<char>(word >> 24), static_cast<char>(word >> 16), static_cast<char>(word >> 8),
          static_cast<char>(word)};
}

/// A chunk: length, type, data, checksum of type and data.
void put(std::ostream& out, const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  out << bigEndian(static_cast<std::uint32_t>(data.size())) << body
      << bigEndian(static_cast<std::uint32_t>(sum));
}

}  // namespace

PngImage::PngImage(std::int64_t width, std::int64_t height)
    : width_(width), height_(height), rows_(static_cast<std::size_t>((3 * width + 1) * height)) {}

void PngImage::set(std::int64_t x, std::int64_t y, double red, double green, double blue) {
  const auto at = static_cast<std::size_t>((3 * width_ + 1) * y + 1 + 3 * x);
  std::size_t n = 0;
  for (const double value : {red, green, blue})
    rows_[at + n++] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 1.0) * 255.0 + 0.5);
}

void PngImage::write(const std::filesystem::path& file) const {
  std::string data(compressBound(rows_.size()), '\0');
  uLongf size = data.size();
  compress2(reinterpret_cast<Bytef*>(data.data()), &size, rows_.data(), rows_.size(), 6);
  data.resize(size);
  std::ofstream out(file, std::ios::binary);
  out << "\x89PNG\r\n\x1a\n";
  put(out, "IHDR",
      bigEndian(static_cast<std::uint32_t>(width_)) + bigEndian(static_cast<std::uint32_t>(height_)) +
          std::string{8, 2, 0, 0, 0});  // 8 bits, red green blue
  put(out, "IDAT", data);
  put(out, "IEND", "");
  if (!out.flush()) throw OutputError("cannot write the picture " + file.string());
}

}  // namespace tessera::jobs
