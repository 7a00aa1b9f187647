#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/geometry/index.hpp"
#include "core/memory/element_type.hpp"
#include "core/text/error.hpp"

// How the number that a task computes is stored in an element of any type. Component c of a vector holds
// (c + 1) v - c d, where d is the value of the Dirichlet sides: copies and all conditions keep it so. A
// mix-up of components, or of their bytes, shows in each read.
namespace tessera::fuzz {

template <class T>
struct IsVector : std::false_type {};
template <class T, int N>
struct IsVector<Vec<T, N>> : std::true_type {};

template <class T>
T elementOf(std::int64_t value, int dirichlet) {
  if constexpr (IsVector<T>::value) {
    T element{};
    constexpr int components = elementTypeOf<T>.components;
    for (int c = 0; c < components; ++c)
      element[c] = static_cast<std::decay_t<decltype(element[c])>>((c + 1) * value - c * dirichlet);
    return element;
  } else {
    return static_cast<T>(value);
  }
}

/// The number; throws InternalError where the components of a vector do not belong together.
template <class T>
double numberOf(const T& element, int dirichlet) {
  if constexpr (IsVector<T>::value) {
    constexpr int components = elementTypeOf<T>.components;
    const auto first = static_cast<double>(element[0]);
    for (int c = 1; c < components; ++c) {
      const double wanted = (c + 1) * first - c * static_cast<double>(dirichlet);
      if (static_cast<double>(element[c]) == wanted || std::isnan(first)) continue;
      throw InternalError("component " + std::to_string(c) + " of a vector is " + std::to_string(element[c]) +
                          ", not " + std::to_string(wanted));
    }
    return first;
  } else {
    return static_cast<double>(element);
  }
}

template <class T>
struct HasComponents : std::false_type {};
template <class T>
struct HasComponents<Components<T>> : std::true_type {};

/// Component c holds the number and this much more; each has conditions of its own.
constexpr int offsetOf(int component) { return 13 * component; }
/// What a read of several components sees: each counts differently, so that none stands for another.
constexpr int weightOf(int component) { return 2 * component + 1; }

/// Stores the number at x.
template <class Element, class FieldType>
void putNumber(const FieldType& field, Index x, std::int64_t value, int dirichlet) {
  if constexpr (HasComponents<Element>::value) {
    for (int c = 0; c < field.count(); ++c) {
      auto& number = field[c](x);
      number = static_cast<std::decay_t<decltype(number)>>(value + offsetOf(c));
    }
  } else {
    field(x) = elementOf<Element>(value, dirichlet);
  }
}

/// The number at an index that somebody owns.
template <class Element, class FieldType>
double ownNumber(const FieldType& field, Index x, int dirichlet) {
  if constexpr (HasComponents<Element>::value) {
    return static_cast<double>(field[0](x));
  } else {
    return numberOf(static_cast<Element>(field(x)), dirichlet);
  }
}

/// What a read finds at any index.
template <class Element, class FieldType>
double seenNumber(const FieldType& field, Index x, int dirichlet) {
  if constexpr (HasComponents<Element>::value) {
    double sum = 0.0;
    for (int c = 0; c < field.count(); ++c) sum += weightOf(c) * static_cast<double>(field[c](x));
    return sum;
  } else {
    return numberOf(static_cast<Element>(field(x)), dirichlet);
  }
}

}  // namespace tessera::fuzz
