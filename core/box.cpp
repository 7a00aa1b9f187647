#include "core/box.hpp"

#include "core/error.hpp"

namespace tessera {

std::int64_t Box::volume() const {
  if (empty()) return 0;
  const Extent n = extent();
  std::int64_t area = 0;
  std::int64_t all = 0;
  if (__builtin_mul_overflow(n.i, n.j, &area) || __builtin_mul_overflow(area, n.k, &all)) {
    throw InternalError(
        Message("box has more cells than 63 bits can count").line("box  ", asText(*this)).text());
  }
  return all;
}

std::vector<Box> subtract(const Box& a, const Box& b) {
  std::vector<Box> parts;
  const Box common = intersect(a, b);
  if (common.empty()) {
    if (!a.empty()) parts.push_back(a);
    return parts;
  }
  Box rest = a;
  for (int axis = kAxes - 1; axis >= 0; --axis) {
    Box below = rest;
    below.hi[axis] = common.lo[axis];
    if (!below.empty()) parts.push_back(below);
    Box above = rest;
    above.lo[axis] = common.hi[axis];
    if (!above.empty()) parts.push_back(above);
    rest.lo[axis] = common.lo[axis];
    rest.hi[axis] = common.hi[axis];
  }
  return parts;
}

std::string asText(const Box& b) {
  const auto corner = [](Index x) {
    return "[" + std::to_string(x.i) + "," + std::to_string(x.j) + "," + std::to_string(x.k) + "]";
  };
  return b.empty() ? std::string("[empty]") : corner(b.lo) + ".." + corner(b.hi - Index{1, 1, 1});
}

}  // namespace tessera
