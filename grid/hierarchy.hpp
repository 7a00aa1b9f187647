#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grid/level.hpp"

namespace tessera {

/// How level 0 is cut: either a number of patches along each axis or their size in cells. Uneven division is
/// allowed: sizes along an axis then differ by at most one cell (patches) or the last is smaller
/// (patch_size).
struct Division {
  enum class By { Patches, PatchSize };
  By by = By::Patches;
  Extent value{1, 1, 1};
};

/// All levels of a mesh. Immutable and shared; two hierarchies with equal `hash()` have the same patches.
class Hierarchy {
 public:
  /// One level that covers the whole domain. Throws DeckError when the division does not fit the cells.
  static std::shared_ptr<const Hierarchy> uniform(const Geometry& geometry, const Division& division);

  explicit Hierarchy(Geometry geometry, std::vector<Level> levels);

  const Geometry& geometry() const { return geometry_; }
  std::span<const Level> levels() const { return levels_; }
  const Level& level(LevelId number) const { return levels_[static_cast<std::size_t>(number)]; }
  std::int64_t patchCount() const { return static_cast<std::int64_t>(levelOfPatch_.size()); }
  const Patch& patch(PatchId id) const;
  std::int64_t cellCount() const;
  /// A number made from geometry and patches only (no addresses), equal on every rank and every machine.
  std::uint64_t hash() const { return hash_; }

 private:
  Geometry geometry_;
  std::vector<Level> levels_;
  std::vector<LevelId> levelOfPatch_;
  std::uint64_t hash_ = 0;
};

/// Cuts `cells` along one axis; the lower ends and, last, the upper end.
std::vector<std::int64_t> cutAxis(std::int64_t cells, std::int64_t pieces);

}  // namespace tessera
