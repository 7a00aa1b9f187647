#pragma once

#include <cstdint>

#include "core/kernel.hpp"

namespace tessera {

/// Four words of 32 bits: what a block of random numbers is, and what counts the blocks.
struct PhiloxWords {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  std::uint32_t w = 0;
  friend constexpr bool operator==(const PhiloxWords&, const PhiloxWords&) = default;
};

/// The key of a stream of random numbers.
struct PhiloxKey {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

/// Philox 4x32-10 (J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): four random
/// words as a function of a counter and a key. Nothing is kept between calls, so a number that is asked for
/// by what it is for (cell, ray, step) is the same on any thread, rank and device. Whole numbers only.
///
///   const PhiloxWords words = philox({cell, 0, ray, 0}, {seed, step});
///   const double u = unitReal(words.x);
///
/// Seven rounds are the least that pass all tests of BigCrush (ibid., table 2), ten have room to spare.
template <int rounds = 10>
TESSERA_KERNEL constexpr PhiloxWords philox(PhiloxWords counter, PhiloxKey key) {
  constexpr std::uint64_t kFirst = 0xD2511F53U;
  constexpr std::uint64_t kSecond = 0xCD9E8D57U;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = kFirst * counter.x;
    const std::uint64_t b = kSecond * counter.z;
    const auto highOf = [](std::uint64_t product) { return static_cast<std::uint32_t>(product >> 32); };
    counter = {highOf(b) ^ counter.y ^ key.low, static_cast<std::uint32_t>(b),
               highOf(a) ^ counter.w ^ key.high, static_cast<std::uint32_t>(a)};
    key = {key.low + 0x9E3779B9U, key.high + 0xBB67AE85U};
  }
  return counter;
}

/// A number between 0 and 1 from a random word, neither of them included: (word + 1/2) / 2^32.
TESSERA_KERNEL constexpr double unitReal(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

}  // namespace tessera
