#include "components/detail/positive_fill.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace tessera {
namespace {

/// Of middles of cells along an axis, the first and the last among them.
std::vector<double> positionsAlong(const Geometry& geometry, int axis) {
  constexpr std::int64_t kMost = 16;  // cells looked at along an axis, less one
  const std::int64_t last = geometry.cells[axis] - 1;
  const std::int64_t pieces = std::clamp<std::int64_t>(last, 1, kMost);
  const double size =
      (geometry.upper[axis] - geometry.lower[axis]) / static_cast<double>(geometry.cells[axis]);
  std::vector<double> at;
  for (std::int64_t n = 0; n <= (last > 0 ? pieces : 0); ++n) {
    const std::int64_t cell = last * n / pieces;
    at.push_back(geometry.lower[axis] + (static_cast<double>(cell) + 0.5) * size);
  }
  return at;
}

}  // namespace

void requirePositive(const Expression& expression, const Geometry& geometry, const std::string& place,
                     const char* key) {
  for (const double z : positionsAlong(geometry, 2)) {
    for (const double y : positionsAlong(geometry, 1)) {
      for (const double x : positionsAlong(geometry, 0)) {
        const double value = expression(x, y, z, 0.0);
        if (value > 0.0) continue;
        std::ostringstream text;
        text << place << ": error: " << key << " is " << value << " at (" << x << ", " << y << ", " << z
             << "); give an expression that is above 0 everywhere";
        throw DeckError(text.str());
      }
    }
  }
}

}  // namespace tessera
