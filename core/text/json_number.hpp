#pragma once

#include <cmath>

namespace tessera {

/// A number as a value of JSON, which has no NaN and no infinity: those are the texts "nan", "inf" and
/// "-inf". `Json` is the type of a value of the JSON library, which takes doubles and texts.
template <class Json>
Json jsonNumber(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

}  // namespace tessera
