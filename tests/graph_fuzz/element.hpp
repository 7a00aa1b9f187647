#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

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

}  // namespace tessera::fuzz
