#include "datawarehouse/archive/stored_mesh.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

#include "core/text/error.hpp"
#include "grid/refine.hpp"

namespace tessera {
namespace {

constexpr std::int64_t kMostCellsOfAnAxis = std::int64_t{1} << 40;
constexpr double kMostCells = 0x1p62;
constexpr std::int64_t kLargestRatio = 1024;

[[noreturn]] void refuse(const std::string& why) { throw InputError("it holds no mesh: " + why); }

void checkGeometry(const Geometry& geometry) {
  for (int d = 0; d < kAxes; ++d) {
    const double length = geometry.upper[d] - geometry.lower[d];
    if (!std::isfinite(geometry.lower[d]) || !std::isfinite(length) || length <= 0.0)
      refuse("its domain has no length along axis " + std::string(1, "xyz"[d]));
  }
}

/// What `Level` and `Hierarchy` count on: numbers that can be counted with.
void checkNumbers(const std::string& name, const Box& domain, const std::vector<Box>& patches,
                  bool isCoarsest) {
  double cells = 1.0;
  for (int d = 0; d < kAxes; ++d) {
    const std::int64_t n = domain.hi[d];
    if (n < 1 || n > kMostCellsOfAnAxis)
      refuse(name + " has " + std::to_string(n) + " cells along axis " + "xyz"[d]);
    cells *= static_cast<double>(n);
  }
  if (cells > kMostCells) refuse(name + " has more cells than can be counted");
  if (patches.empty() && isCoarsest) refuse(name + " has no patch");
  for (const Box& box : patches) {
    if (box.empty() || !domain.contains(box))
      refuse(name + " has a patch that is empty or leaves the domain");
  }
}

void checkPlaces(const Level& level, const Level* coarser) {
  const std::string name = "level " + std::to_string(level.number());
  for (const Patch& patch : level.patches()) {
    int here = 0;
    level.forEachOverlapping(patch.cells, [&](const Patch&) { ++here; });
    if (here != 1) refuse(asText(patch) + " overlaps another patch");
    if (coarser == nullptr) continue;
    const Box below = coarsen(patch.cells, level.ratioToCoarser());
    std::int64_t covered = 0;
    coarser->forEachOverlapping(
        below, [&](const Patch& other) { covered += intersect(other.cells, below).volume(); });
    if (covered != below.volume()) refuse(asText(patch) + " leaves the level below");
  }
  if (coarser == nullptr && level.cellCount() != level.domain().volume())
    refuse(name + " does not cover the domain");
}

Extent checkedRatio(const Geometry& geometry, std::size_t number, Extent ratio) {
  for (int d = 0; d < kAxes; ++d) {
    const bool refines = number > 0 && geometry.active(d);
    if (refines ? (ratio[d] >= 2 && ratio[d] <= kLargestRatio) : ratio[d] == 1) continue;
    refuse("level " + std::to_string(number) + " has a ratio of " + std::to_string(ratio[d]) +
           " along axis " + "xyz"[d]);
  }
  return ratio;
}

}  // namespace

std::shared_ptr<const Hierarchy> meshOf(const Geometry& geometry, const std::vector<StoredLevel>& levels) {
  checkGeometry(geometry);
  if (levels.empty()) refuse("it has no level");
  std::vector<Level> made;
  PatchId next = 0;
  Box domain{{}, geometry.cells};
  for (const StoredLevel& level : levels) {
    const auto number = static_cast<LevelId>(made.size());
    const Extent ratio = checkedRatio(geometry, made.size(), level.ratio);
    domain = refine(domain, ratio);
    checkNumbers("level " + std::to_string(number), domain, level.patches, number == 0);
    std::vector<Patch> patches;
    for (const Box& cells : level.patches) patches.push_back({next++, number, cells});
    made.emplace_back(number, geometry, domain, ratio, std::move(patches));
    checkPlaces(made.back(), number == 0 ? nullptr : &made[made.size() - 2]);
  }
  return std::make_shared<const Hierarchy>(geometry, std::move(made));
}

std::string textOfBoxes(std::span<const Patch> patches) {
  std::string text;
  for (const Patch& patch : patches) {
    for (const Index& corner : {patch.cells.lo, patch.cells.hi}) {
      for (int d = 0; d < kAxes; ++d) text.append(text.empty() ? "" : " ").append(std::to_string(corner[d]));
    }
  }
  return text;
}

std::vector<Box> boxesOfText(std::string_view text) {
  std::vector<Box> boxes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    Box box;
    for (Index* corner : {&box.lo, &box.hi}) {
      for (int d = 0; d < kAxes; ++d) {
        if (at != end && *at == ' ') ++at;
        const auto [after, error] = std::from_chars(at, end, (*corner)[d]);
        if (error != std::errc()) refuse("a box of a patch is not six whole numbers");
        at = after;
      }
    }
    boxes.push_back(box);
  }
  return boxes;
}

std::vector<std::string> linesOf(const Geometry& geometry) {
  const auto corner = [](Real3 x) {
    std::string text;
    for (int d = 0; d < kAxes; ++d) {
      char digits[32];
      text += (d == 0 ? "(" : ", ") + std::string(digits, std::to_chars(digits, std::end(digits), x[d]).ptr);
    }
    return text + ")";
  };
  std::string periodic;
  for (int d = 0; d < kAxes; ++d) {
    if (geometry.periodic[static_cast<std::size_t>(d)]) periodic += "xyz"[d];
  }
  return {"cells " + asText(geometry.cells), "lower corner " + corner(geometry.lower),
          "upper corner " + corner(geometry.upper),
          "periodic axes " + (periodic.empty() ? "none" : periodic)};
}

}  // namespace tessera
