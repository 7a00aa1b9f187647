#include "datawarehouse/archive/detail/compare_layers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

namespace tessera::detail {
namespace {

template <class T>
double loadAs(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

double asDouble(const std::byte* at, Scalar scalar) {
  switch (scalar) {
    case Scalar::Float32:
      return loadAs<float>(at);
    case Scalar::Float64:
      return loadAs<double>(at);
    case Scalar::Int32:
      return loadAs<std::int32_t>(at);
    case Scalar::Int64:
      return loadAs<std::int64_t>(at);
  }
  return 0.0;
}

// Level, z, y, x, component: an order that no patch layout changes.
auto orderOf(const ValueDifference& d) {
  return std::tuple(d.level, d.index.k, d.index.j, d.index.i, d.component);
}

void note(FieldComparison& result, const ValueDifference& d) {
  ++result.differing;
  if (!result.first || orderOf(d) < orderOf(*result.first)) result.first = d;
}

void measure(FieldComparison& result, double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return;
  const double gap = std::abs(a - b);
  const double size = std::max(std::abs(a), std::abs(b));
  const double infinity = std::numeric_limits<double>::infinity();
  result.maxAbs = std::max(result.maxAbs, std::isnan(gap) ? infinity : gap);
  result.maxRel = std::max(result.maxRel, std::isfinite(gap / size) ? gap / size : infinity);
}

std::size_t byteAt(const Box& box, Index x, const ElementType& type) {
  const Extent n = box.extent();
  const Index d = x - box.lo;
  return static_cast<std::size_t>(((d.k * n.j + d.j) * n.i + d.i) * type.bytes());
}

// One row of the common box, both sides packed along x.
void compareRow(std::int32_t level, Index start, std::int64_t length, const ElementType& type,
                const std::byte* a, const std::byte* b, const CompareTolerance& tolerance,
                FieldComparison& result) {
  const std::int64_t each = type.scalarBytes();
  result.compared += length * type.components;
  if (std::memcmp(a, b, static_cast<std::size_t>(length * type.bytes())) == 0) return;
  for (std::int64_t n = 0; n < length * type.components; ++n, a += each, b += each) {
    if (std::memcmp(a, b, static_cast<std::size_t>(each)) == 0) continue;
    const double x = asDouble(a, type.scalar);
    const double y = asDouble(b, type.scalar);
    measure(result, x, y);
    if (!tolerance.exact && withinTolerance(x, y, tolerance)) continue;
    const Index at = start + Index{n / type.components, 0, 0};
    note(result, {level, at, static_cast<std::int32_t>(n % type.components), x, y});
  }
}

void compareBoxes(std::int32_t level, const Box& common, const ElementType& type, const Box& boxA,
                  const std::vector<std::byte>& a, const Box& boxB, const std::vector<std::byte>& b,
                  const CompareTolerance& tolerance, FieldComparison& result) {
  for (std::int64_t k = common.lo.k; k < common.hi.k; ++k) {
    for (std::int64_t j = common.lo.j; j < common.hi.j; ++j) {
      const Index start{common.lo.i, j, k};
      compareRow(level, start, common.extent().i, type, a.data() + byteAt(boxA, start, type),
                 b.data() + byteAt(boxB, start, type), tolerance, result);
    }
  }
}

// The first part of `pieces` that `others` do not cover.
std::optional<Box> uncovered(const std::vector<Piece>& pieces, const std::vector<Piece>& others) {
  for (const Piece& piece : pieces) {
    std::vector<Box> rest{piece.box};
    for (const Piece& other : others) {
      if (intersect(piece.box, other.box).empty()) continue;
      rest = subtract(rest, other.box);
    }
    if (!rest.empty() && !rest.front().empty()) return rest.front();
  }
  return {};
}

// Pieces of nodes and faces share their borders. Where the other side has the very same piece, that one alone
// is the counterpart; its neighbours' copies of the border are compared with theirs.
std::size_t indexOfBox(const std::vector<Piece>& pieces, const Box& box) {
  const auto same = [&](const Piece& piece) { return piece.box == box; };
  return static_cast<std::size_t>(std::find_if(pieces.begin(), pieces.end(), same) - pieces.begin());
}

}  // namespace

bool withinTolerance(double a, double b, const CompareTolerance& tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance.abs + tolerance.rel * std::max(std::abs(a), std::abs(b));
}

void compareLayers(const std::string& name, std::int32_t level, const Layer& a, const Layer& b,
                   const CompareTolerance& tolerance, FieldComparison& result,
                   std::vector<std::string>& problems) {
  std::vector<std::optional<std::vector<std::byte>>> loadedB(b.pieces.size());
  for (const Piece& piece : a.pieces) {
    std::optional<std::vector<std::byte>> loadedA;
    const std::size_t twin = indexOfBox(b.pieces, piece.box);
    for (std::size_t n = 0; n < b.pieces.size(); ++n) {
      const Box common = intersect(piece.box, b.pieces[n].box);
      if (common.empty() || (twin < b.pieces.size() && n != twin)) continue;
      if (!loadedA) loadedA = piece.load();
      if (!loadedB[n]) loadedB[n] = b.pieces[n].load();
      compareBoxes(level, common, a.type, piece.box, *loadedA, b.pieces[n].box, *loadedB[n], tolerance,
                   result);
    }
  }
  const std::string where = name + ", level " + std::to_string(level) + ": ";
  if (const auto box = uncovered(a.pieces, b.pieces))
    problems.push_back(where + asText(*box) + " is in the first only");
  if (const auto box = uncovered(b.pieces, a.pieces))
    problems.push_back(where + asText(*box) + " is in the second only");
}

}  // namespace tessera::detail
