#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tessera {

/// A sum of doubles without rounding: a fixed-point number wide enough for every finite double, kept as
/// signed 32-bit digits in 64-bit words (a Kulisch accumulator, U. Kulisch, "Computer Arithmetic and
/// Validity", 2008).
///
/// Adding is exact, so the result does not depend on the order, the patch layout, the threads or the ranks;
/// `value()` rounds once, to nearest even. Word vectors of two sums may be added element by element, which is
/// what a reduction over ranks does. Not thread safe; one object an adder.
///
///   ExactSum s;  s.add(1e100);  s.add(1.0);  s.add(-1e100);  s.value();  // 1.0
class ExactSum {
 public:
  /// 67 digits cover 2^-1074 .. 2^1024 with head room; three counters follow for NaN, +inf and -inf.
  static constexpr int kDigits = 68;
  static constexpr int kWords = kDigits + 3;

  void add(double x);
  void add(const ExactSum& other);
  /// Adds sums that were computed elsewhere, as the words of up to 2^30 doubles: each double's digits were
  /// added to the words, and nothing was carried.
  void addWords(std::span<const std::int64_t> words);
  /// The sum, rounded once; NaN where a NaN or both infinities were added.
  double value() const;

  /// The words, with carries resolved: what a reduction sends. Sums of up to 2^30 such vectors cannot
  /// overflow.
  std::span<std::int64_t> words();
  bool isZero() const;

 private:
  void resolveCarries();

  std::array<std::int64_t, kWords> words_{};
  std::int64_t pending_ = 0;  ///< additions since the carries were resolved
};

}  // namespace tessera
