#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tessera {

/// The number of one thing among others of its kind, which no number of another kind can be taken for:
/// neither converts to the other, nor to or from an integer. Numbers count up from 0; -1 means none, and is
/// what a default-constructed id holds. Like a pointer, an id moves by a distance, and two ids of a kind
/// differ by one. As large and as fast as the integer inside.
///
///   using NodeId = Id<struct NodeTag>;
///   const NodeId first(7);
///   const NodeId next = first + 1;
///   std::int32_t distance = next - first;
template <class Tag, std::signed_integral Int = std::int32_t>
class Id {
  Int value_ =
      -1;  // first: nvcc 13 looks for it where it meets the members, when a template needs them early

 public:
  using Value = Int;

  constexpr Id() = default;
  /// Any integer will do; the caller knows that it fits.
  template <std::integral Number>
  constexpr explicit Id(Number value) : value_(static_cast<Int>(value)) {}

  constexpr Int value() const { return value_; }
  /// The number as the subscript of a list of all things of the kind.
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
  constexpr bool isNone() const { return value_ < 0; }
  constexpr bool isSome() const { return value_ >= 0; }

  constexpr Id& operator++() {
    ++value_;
    return *this;
  }
  constexpr Id operator++(int) { return Id(value_++); }
  friend constexpr Id operator+(Id id, std::integral auto distance) { return Id(id.value_ + distance); }
  friend constexpr Id operator-(Id id, std::integral auto distance) { return Id(id.value_ - distance); }
  friend constexpr Int operator-(Id a, Id b) { return a.value_ - b.value_; }
  friend constexpr auto operator<=>(Id, Id) = default;
  friend constexpr bool operator==(Id, Id) = default;

  /// Prints the number, in tests.
  template <class Stream>
  requires requires(Stream& stream) { stream.flush(); }
  friend Stream& operator<<(Stream& stream, Id id) {
    stream << id.value_;
    return stream;
  }
};

/// The subscript that a number of any sort stands for.
template <class Tag, class Int>
constexpr std::size_t indexOf(Id<Tag, Int> id) {
  return id.index();
}
constexpr std::size_t indexOf(std::integral auto number) { return static_cast<std::size_t>(number); }

}  // namespace tessera

template <class Tag, std::signed_integral Int>
struct std::hash<tessera::Id<Tag, Int>> {
  std::size_t operator()(tessera::Id<Tag, Int> id) const noexcept { return std::hash<Int>{}(id.value()); }
};
