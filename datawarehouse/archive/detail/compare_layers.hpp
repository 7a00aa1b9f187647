#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "datawarehouse/archive/compare.hpp"

namespace tessera::detail {

/// The values of one variable over one box, to be loaded when they are needed: packed, x fastest.
struct Piece {
  Box box;
  std::function<std::vector<std::byte>()> load;
};

/// One variable on one level: all its pieces.
struct Layer {
  ElementType type;
  std::vector<Piece> pieces;
};

/// True when the two numbers of `scalar` at `a` and `b` count as equal.
bool withinTolerance(double a, double b, const CompareTolerance& tolerance);

/// Compares two layers of the same type value by value and adds to `result`; indices that only one side has
/// become one sentence a side in `problems`, which begins with `name`.
void compareLayers(const std::string& name, std::int32_t level, const Layer& a, const Layer& b,
                   const CompareTolerance& tolerance, FieldComparison& result,
                   std::vector<std::string>& problems);

}  // namespace tessera::detail
