#include "core/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/text/contracts.hpp"

namespace tessera {
namespace {

constexpr int kBias = 1074;                    // digit 0 has the weight 2^-1074, the smallest subnormal
constexpr std::int64_t kMaxPending = 1 << 29;  // each addition changes a word by less than 2^32
constexpr int kNan = ExactSum::kDigits;
constexpr int kPlusInf = kNan + 1;
constexpr int kMinusInf = kNan + 2;

/// Rounds digits (all in [0, 2^32), highest first non-zero at `top`) to the nearest double, ties to even.
double roundDigits(const std::array<std::int64_t, ExactSum::kWords>& d, int top) {
  const auto digit = [&](int n) {
    return n < 0 ? 0ULL : static_cast<std::uint64_t>(d[static_cast<std::size_t>(n)]);
  };
  const int width = 64 - std::countl_zero(digit(top));
  // 64 leading bits: the top digit, the next one, and what is missing from the third.
  std::uint64_t head = (digit(top) << (64 - width)) | (digit(top - 1) << (32 - width));
  if (width < 32) head |= digit(top - 2) >> width;
  bool sticky = width < 32 ? (digit(top - 2) & ((1ULL << width) - 1)) != 0 : digit(top - 2) != 0;
  for (int n = top - 3; n >= 0 && !sticky; --n) sticky = digit(n) != 0;
  const std::uint64_t rest = head & 0x7FF;
  std::uint64_t mantissa = head >> 11;
  const bool half = rest == 0x400 && !sticky;
  if (rest > 0x400 || (rest == 0x400 && sticky) || (half && (mantissa & 1) != 0)) ++mantissa;
  return std::ldexp(static_cast<double>(mantissa), 32 * top + width - 64 + 11 - kBias);
}

}  // namespace

void ExactSum::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF);
  std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFFULL;
  const bool negative = (bits >> 63) != 0;
  if (exponent == 0x7FF) {
    ++words_[static_cast<std::size_t>(mantissa != 0 ? kNan : negative ? kMinusInf : kPlusInf)];
    return;
  }
  if (exponent != 0) mantissa |= 1ULL << 52;
  const int position = exponent == 0 ? 0 : exponent - 1;  // bits above 2^-1074
  const auto first = static_cast<std::size_t>(position / 32);
  const int offset = position % 32;
  const std::uint64_t low = mantissa << offset;
  const std::uint64_t high = offset == 0 ? 0 : mantissa >> (64 - offset);
  const std::int64_t sign = negative ? -1 : 1;
  words_[first] += sign * static_cast<std::int64_t>(low & 0xFFFFFFFFULL);
  words_[first + 1] += sign * static_cast<std::int64_t>(low >> 32);
  words_[first + 2] += sign * static_cast<std::int64_t>(high);
  if (++pending_ == kMaxPending) resolveCarries();
}

void ExactSum::add(const ExactSum& other) {
  ExactSum resolved = other;
  resolved.resolveCarries();
  resolveCarries();
  for (std::size_t n = 0; n < kWords; ++n) words_[n] += resolved.words_[n];
  pending_ = 2;
}

void ExactSum::addWords(std::span<const std::int64_t> words) {
  TESSERA_EXPECT(words.size() == kWords, "hand in all words of a sum");
  ExactSum other;
  std::copy(words.begin(), words.end(), other.words_.begin());
  add(other);
}

void ExactSum::resolveCarries() {
  for (std::size_t n = 0; n + 1 < kDigits; ++n) {
    const std::int64_t carry = words_[n] >> 32;  // rounds down, so every digit ends in [0, 2^32)
    words_[n] -= carry * (1LL << 32);
    words_[n + 1] += carry;
  }
  pending_ = 1;
}

std::span<std::int64_t> ExactSum::words() {
  resolveCarries();
  return words_;
}

bool ExactSum::isZero() const {
  ExactSum copy = *this;
  copy.resolveCarries();
  for (const std::int64_t w : copy.words_) {
    if (w != 0) return false;
  }
  return true;
}

double ExactSum::value() const {
  ExactSum sum = *this;
  sum.resolveCarries();
  const bool nan = sum.words_[kNan] != 0 || (sum.words_[kPlusInf] != 0 && sum.words_[kMinusInf] != 0);
  if (nan) return std::numeric_limits<double>::quiet_NaN();
  if (sum.words_[kPlusInf] != 0) return std::numeric_limits<double>::infinity();
  if (sum.words_[kMinusInf] != 0) return -std::numeric_limits<double>::infinity();
  const bool negative = sum.words_[kDigits - 1] < 0;  // the highest digit carries the sign
  if (negative) {
    for (std::size_t n = 0; n < kDigits; ++n) sum.words_[n] = -sum.words_[n];
    sum.resolveCarries();
  }
  int top = kDigits - 1;
  while (top >= 0 && sum.words_[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0.0;
  const double magnitude = roundDigits(sum.words_, top);
  return negative ? -magnitude : magnitude;
}

}  // namespace tessera
