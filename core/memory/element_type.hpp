#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace tessera {

/// A small fixed vector as one element of a variable, for example a velocity.
template <class T, int N>
struct Vec {
  T value[N];
  constexpr T operator[](int n) const { return value[n]; }
  constexpr T& operator[](int n) { return value[n]; }
  friend constexpr bool operator==(const Vec&, const Vec&) = default;
};

/// The type of a variable that has several numbers an index, so many as its label was made with: the numbers
/// of one component lie together, x contiguous, and the components one behind the other. A name only.
template <class T>
struct Components {};

/// The number type of a variable's components.
enum class Scalar : std::uint8_t { Float32 = 1, Float64 = 2, Int32 = 3, Int64 = 4 };

/// How the numbers of an index lie.
enum class NumberOrder : std::uint8_t {
  Together,  ///< side by side: an element
  Apart,     ///< each with the same number of the other indices: components one behind the other
};

/// What a variable has at one index: `components` numbers of one type.
struct ElementType {
  Scalar scalar = Scalar::Float64;
  std::int32_t components = 1;
  NumberOrder order = NumberOrder::Together;

  constexpr std::int64_t scalarBytes() const {
    return scalar == Scalar::Float32 || scalar == Scalar::Int32 ? 4 : 8;
  }
  /// Of all numbers of an index.
  constexpr std::int64_t bytes() const { return scalarBytes() * components; }
  /// Components that lie one behind the other.
  constexpr std::int32_t planes() const { return order == NumberOrder::Apart ? components : 1; }
  /// Numbers that lie side by side.
  constexpr std::int32_t together() const { return order == NumberOrder::Apart ? 1 : components; }
  /// Of the numbers that lie side by side: from an index to the next one along x.
  constexpr std::int64_t elementBytes() const { return scalarBytes() * together(); }
  friend constexpr bool operator==(const ElementType&, const ElementType&) = default;
};

namespace detail {
template <class T>
struct ElementTypeOf {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> ||
                    std::is_same_v<T, std::int64_t>,
                "a variable holds double, float, int32_t, int64_t or a Vec of one of them");
  static constexpr ElementType value{std::is_same_v<T, double>         ? Scalar::Float64
                                     : std::is_same_v<T, float>        ? Scalar::Float32
                                     : std::is_same_v<T, std::int32_t> ? Scalar::Int32
                                                                       : Scalar::Int64,
                                     1};
};
template <class T, int N>
struct ElementTypeOf<Vec<T, N>> {
  static constexpr ElementType value{ElementTypeOf<T>::value.scalar, N};
};
}  // namespace detail

/// The ElementType of a C++ type: double, float, int32_t, int64_t, or Vec<T, N> of them.
template <class T>
inline constexpr ElementType elementTypeOf = detail::ElementTypeOf<T>::value;

/// Whether numbers of that type can be NaN or infinite.
constexpr bool holdsReals(ElementType type) {
  return type.scalar == Scalar::Float64 || type.scalar == Scalar::Float32;
}

/// "double", "float[3]", "3 components of double": the words used in messages and checkpoints.
std::string asText(ElementType type);

/// Where on the mesh the elements of a variable sit.
enum class Centering : std::uint8_t { Cell, Node, FaceX, FaceY, FaceZ };

/// "cell", "node", "face x"...
std::string asText(Centering centering);

}  // namespace tessera
