#include "core/geometry/box.hpp"

#include "core/geometry/box_difference.hpp"
#include "core/text/error.hpp"

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
  forEachOutside(a, b, [&](const Box& part) { parts.push_back(part); });
  return parts;
}

std::vector<Box> subtract(const std::vector<Box>& parts, const Box& b) {
  std::vector<Box> rest;
  for (const Box& part : parts) forEachOutside(part, b, [&](const Box& left) { rest.push_back(left); });
  return rest;
}

std::string asText(const Box& b) {
  const auto corner = [](Index x) {
    return "[" + std::to_string(x.i) + "," + std::to_string(x.j) + "," + std::to_string(x.k) + "]";
  };
  return b.empty() ? std::string("[empty]") : corner(b.lo) + ".." + corner(b.hi - Index{1, 1, 1});
}

}  // namespace tessera
