#include "datawarehouse/archive/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace tessera {
namespace detail {
namespace {

// Eight tables, so that eight bytes are folded at once ("slicing by 8").
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables makeTables() {
  constexpr std::uint32_t kReversedPolynomial = 0x82F63B78u;
  Tables t{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) != 0 ? (c >> 1) ^ kReversedPolynomial : c >> 1;
    t[0][n] = c;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t n = 0; n < 256; ++n) t[k][n] = (t[k - 1][n] >> 8) ^ t[0][t[k - 1][n] & 0xFFu];
  }
  return t;
}

constexpr Tables kTables = makeTables();

std::uint64_t loadLittleEndian(const std::byte* at) {
  std::uint64_t word = 0;
  for (int n = 7; n >= 0; --n) word = (word << 8) | std::to_integer<std::uint64_t>(at[n]);
  return word;
}

}  // namespace

std::uint32_t crc32cByTable(std::span<const std::byte> bytes, std::uint32_t previous) {
  std::uint32_t crc = ~previous;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint64_t word = loadLittleEndian(at) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xFFu];
  }
  for (; left > 0; ++at, --left)
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xFFu];
  return ~crc;
}

#if defined(__x86_64__)
bool crc32cInstructionAvailable() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) std::uint32_t crc32cByInstruction(std::span<const std::byte> bytes,
                                                                    std::uint32_t previous) {
  std::uint64_t crc = ~previous;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto tail = static_cast<std::uint32_t>(crc);
  for (; left > 0; ++at, --left) tail = _mm_crc32_u8(tail, std::to_integer<unsigned char>(*at));
  return ~tail;
}
#else
bool crc32cInstructionAvailable() { return false; }
std::uint32_t crc32cByInstruction(std::span<const std::byte> bytes, std::uint32_t previous) {
  return crc32cByTable(bytes, previous);
}
#endif

}  // namespace detail

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) {
  return detail::crc32cInstructionAvailable() ? detail::crc32cByInstruction(bytes, previous)
                                              : detail::crc32cByTable(bytes, previous);
}

}  // namespace tessera
