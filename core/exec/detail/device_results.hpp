#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/exact_sum.hpp"
#include "core/kernel.hpp"

// How the threads of a device join the values of a reduction: by integers, so that the order does not matter.
// Each join has: Value, what `reduce` returns; kWords and kStart, its words in memory and their value before
// the loop; unknown() and ofParts(words), for the host; OnHost, which goes over a box in order; and, for
// nvcc, OnDevice, one of which each thread has: `add(value)`, then `join(words)` in all threads of a block.

namespace tessera::detail {

/// A loop without a result.
struct NoResult {
  static constexpr std::int32_t kWords = 0;
  static constexpr std::int64_t kStart = 0;
};

inline constexpr std::int64_t kAllButSign = 0x7FFFFFFFFFFFFFFF;
inline constexpr std::int64_t kInfinityBits = 0x7FF0000000000000;

/// Doubles as integers of the same order. Not for NaN; 0 has no sign.
TESSERA_KERNEL inline std::int64_t orderedBits(double value) {
  const auto bits = __builtin_bit_cast(std::int64_t, value + 0.0);
  return bits < 0 ? bits ^ kAllButSign : bits;
}
inline double fromOrderedBits(std::int64_t bits) {
  return __builtin_bit_cast(double, bits < 0 ? bits ^ kAllButSign : bits);
}

/// The smallest value, or the largest one as the smallest of what `kSign` makes of it.
template <bool kLargest>
struct Extreme {
  using Value = double;
  static constexpr std::int32_t kWords = 1;
  static constexpr std::int64_t kStart = kLargest ? ~kInfinityBits : kInfinityBits;

  static double unknown() { return std::numeric_limits<double>::quiet_NaN(); }
  static double ofParts(std::span<const std::int64_t> words) {
    std::int64_t best = kStart;
    for (const std::int64_t word : words) best = isBetter(word, best) ? word : best;
    return fromOrderedBits(best);
  }
  /// False for a NaN.
  template <class T>
  TESSERA_KERNEL static bool isBetter(T a, T b) {
    return kLargest ? a > b : a < b;
  }

  class OnHost {
   public:
    void add(double value) {
      if (isBetter(value, best_)) best_ = value;
    }
    void join(std::int64_t* words) const { words[0] = orderedBits(best_); }

   private:
    double best_ = fromOrderedBits(kStart);
  };

#if defined(__CUDACC__)
  class OnDevice {
   public:
    __device__ OnDevice(std::int64_t*) {}
    __device__ void add(double value) {
      const std::int64_t bits = orderedBits(value);
      if (value == value && isBetter(bits, best_)) best_ = bits;
    }
    __device__ void join(std::int64_t* words) {
      for (unsigned step = 16; step > 0; step /= 2) {
        const std::int64_t other = __shfl_down_sync(0xFFFFFFFFU, static_cast<long long>(best_), step);
        if (isBetter(other, best_)) best_ = other;
      }
      if (threadIdx.x % 32 != 0 || best_ == kStart) return;
      auto* word = reinterpret_cast<long long*>(words);
      if constexpr (kLargest) {
        atomicMax(word, static_cast<long long>(best_));
      } else {
        atomicMin(word, static_cast<long long>(best_));
      }
    }

   private:
    std::int64_t best_ = kStart;
  };
#endif
};

using DeviceMin = Extreme<false>;
using DeviceMax = Extreme<true>;

/// An exact sum: its digits are integers, which threads may add in any order.
struct DeviceSum {
  using Value = ExactSum;
  static constexpr std::int32_t kWords = ExactSum::kWords;
  static constexpr std::int64_t kStart = 0;

  static ExactSum unknown() {
    ExactSum sum;
    sum.add(std::numeric_limits<double>::quiet_NaN());
    return sum;
  }
  static ExactSum ofParts(std::span<const std::int64_t> words) {
    ExactSum sum;
    for (std::size_t at = 0; at < words.size(); at += kWords) sum.addWords(words.subspan(at, kWords));
    return sum;
  }

  class OnHost {
   public:
    void add(double value) { sum_.add(value); }
    void join(std::int64_t* words) {
      const auto from = sum_.words();
      for (std::size_t n = 0; n < from.size(); ++n) words[n] = from[n];
    }

   private:
    ExactSum sum_;
  };

#if defined(__CUDACC__)
  /// Neighbouring cells have values of like size: a thread keeps four digits by itself, and what does not fit
  /// there goes to memory.
  class OnDevice {
   public:
    __device__ OnDevice(std::int64_t* words) : words_(words) {}

    __device__ void add(double value) {
      // See ExactSum::add.
      const auto bits = __builtin_bit_cast(std::uint64_t, value);
      const auto exponent = static_cast<std::int32_t>((bits >> 52) & 0x7FF);
      std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFFULL;
      const bool negative = (bits >> 63) != 0;
      if (exponent == 0x7FF) {
        addTo(ExactSum::kDigits + (mantissa != 0 ? 0 : negative ? 2 : 1), 1);
        return;
      }
      if (exponent != 0) mantissa |= 1ULL << 52;
      if (mantissa == 0) return;
      const std::int32_t position = exponent == 0 ? 0 : exponent - 1;
      const std::int32_t digit = position / 32;
      if (digit != first_ && digit != first_ + 1) {
        flush();
        first_ = digit;
      }
      const std::int32_t offset = position % 32;
      const std::uint64_t low = mantissa << offset;
      const std::uint64_t high = offset == 0 ? 0 : mantissa >> (64 - offset);
      const std::int64_t sign = negative ? -1 : 1;
      const std::int64_t a = sign * static_cast<std::int64_t>(low & 0xFFFFFFFFULL);
      const std::int64_t b = sign * static_cast<std::int64_t>(low >> 32);
      const std::int64_t c = sign * static_cast<std::int64_t>(high);
      const bool higher = digit != first_;
      sums_[0] += higher ? 0 : a;
      sums_[1] += higher ? a : b;
      sums_[2] += higher ? b : c;
      sums_[3] += higher ? c : 0;
    }

    /// The lanes of a warp whose digits are the same ones add theirs first.
    __device__ void join(std::int64_t*) {
      for (;;) {
        const std::int32_t first = __reduce_max_sync(0xFFFFFFFFU, first_);
        if (first == kNone) return;
        const bool takesPart = first_ == first;
        for (std::int32_t n = 0; n < 4; ++n) {
          long long sum = takesPart ? sums_[n] : 0;
          for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xFFFFFFFFU, sum, step);
          if (threadIdx.x % 32 == 0) addTo(first + n, sum);
        }
        if (takesPart) first_ = kNone;
      }
    }

   private:
    static constexpr std::int32_t kNone = -2;

    __device__ void addTo(std::int32_t word, std::int64_t value) {
      if (value != 0) {
        atomicAdd(reinterpret_cast<unsigned long long*>(words_ + word),
                  static_cast<unsigned long long>(value));
      }
    }
    __device__ void flush() {
      if (first_ == kNone) return;
      for (std::int32_t n = 0; n < 4; ++n) {
        addTo(first_ + n, sums_[n]);
        sums_[n] = 0;
      }
    }

    std::int64_t* words_;
    std::int64_t sums_[4] = {};   // NOLINT: a std::array's operator[] is no device function
    std::int32_t first_ = kNone;  ///< the digit that sums_[0] belongs to
  };
#endif
};

}  // namespace tessera::detail
