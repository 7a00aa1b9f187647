#pragma once

#include <algorithm>
#include <cmath>
#include <compare>

#include "core/exact_sum.hpp"

namespace tessera {

class DeviceNumber;
class DeviceExactSum;

namespace detail {
double valueOf(const DeviceNumber& number);
const ExactSum& valueOf(const DeviceExactSum& sum);
}  // namespace detail

/// A number that a device may have yet to compute: what `reduce` gives in a body for devices, and what is
/// computed from it. It is for `task.contribute`; a body cannot branch on it, since the first of its two
/// calls has no value yet. Mixes with doubles in arithmetic, `min`, `max`, `abs` and `sqrt`.
class DeviceNumber {
 public:
  DeviceNumber(double value) : value_(value) {}  // NOLINT: implicit, so that doubles mix with it

  friend DeviceNumber operator-(DeviceNumber a) { return -a.value_; }
  friend DeviceNumber operator+(DeviceNumber a, DeviceNumber b) { return a.value_ + b.value_; }
  friend DeviceNumber operator-(DeviceNumber a, DeviceNumber b) { return a.value_ - b.value_; }
  friend DeviceNumber operator*(DeviceNumber a, DeviceNumber b) { return a.value_ * b.value_; }
  friend DeviceNumber operator/(DeviceNumber a, DeviceNumber b) { return a.value_ / b.value_; }
  friend DeviceNumber min(DeviceNumber a, DeviceNumber b) { return std::min(a.value_, b.value_); }
  friend DeviceNumber max(DeviceNumber a, DeviceNumber b) { return std::max(a.value_, b.value_); }
  friend DeviceNumber abs(DeviceNumber a) { return std::abs(a.value_); }
  friend DeviceNumber sqrt(DeviceNumber a) { return std::sqrt(a.value_); }

  template <class T>
  friend std::partial_ordering operator<=>(const DeviceNumber&, const T&) {
    static_assert(
        sizeof(T) == 0,
        "a body for devices cannot branch on what reduce gives, which its first call does not know: "
        "use min and max, or leave Gpu out of runs<Cpu, Gpu>(...)");
    return std::partial_ordering::unordered;
  }
  template <class T>
  friend bool operator==(const DeviceNumber& a, const T& b) {
    return (a <=> b) == 0;
  }
  explicit operator bool() const = delete;

 private:
  friend double detail::valueOf(const DeviceNumber& number);

  double value_;
};

/// An exact sum that a device may have yet to compute; as DeviceNumber, for `task.contribute`.
class DeviceExactSum {
 public:
  DeviceExactSum() = default;
  explicit DeviceExactSum(const ExactSum& sum) : sum_(sum) {}

  void add(double x) { sum_.add(x); }
  void add(const DeviceExactSum& other) { sum_.add(other.sum_); }
  /// The sum, rounded once.
  DeviceNumber value() const { return sum_.value(); }

 private:
  friend const ExactSum& detail::valueOf(const DeviceExactSum& sum);

  ExactSum sum_;
};

namespace detail {
inline double valueOf(const DeviceNumber& number) { return number.value_; }
inline const ExactSum& valueOf(const DeviceExactSum& sum) { return sum.sum_; }
}  // namespace detail

}  // namespace tessera
