#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "components/rmcrt/level_rays.hpp"
#include "components/rmcrt/ray_source.hpp"
#include "datawarehouse/field.hpp"

namespace tessera::bench {

/// The benchmark of Burns and Christon on a fine level in cubes of patches, and on the whole of a coarser
/// one.
struct RaysCase {
  std::int64_t fine = 128;  ///< cells along each axis
  std::int64_t ratio = 4;
  std::int64_t patch = 16;
  std::uint32_t rays = 100;
  std::int64_t halo = 4;

  double millionRays() const { return 1e-6 * static_cast<double>(fine * fine * fine) * rays; }
};

/// The medium of a level of n^3 cells.
class Cube {
 public:
  using Medium = MediumCell<double>;

  explicit Cube(std::int64_t n) : domain_{{0, 0, 0}, {n, n, n}}, cells_(static_cast<std::size_t>(n * n * n)) {
    const double h = 1.0 / static_cast<double>(n);
    const auto hat = [h](std::int64_t i) {
      return 1.0 - 2.0 * std::abs((static_cast<double>(i) + 0.5) * h - 0.5);
    };
    std::size_t at = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i)
          cells_[at++] = {{0.9 * hat(i) * hat(j) * hat(k) + 0.1, kIntensity}};
      }
    }
  }
  Field<const Medium> field() const { return {cells_.data(), Layout(domain_, false, false)}; }
  RayRegion region(const Box& cells) const {
    const double h = 1.0 / static_cast<double>(domain_.hi.i);
    return {{0, 0, 0}, {h, h, h}, cells, domain_};
  }
  const Box& domain() const { return domain_; }

  static constexpr double kIntensity = 0.318;

 private:
  Box domain_;
  std::vector<Medium> cells_;
};

/// A field that counts how often it is read: once in each cell-step, which is one ray in one cell.
struct CountingField {
  Field<const Cube::Medium> field;
  std::int64_t* reads;

  Cube::Medium operator()(Index x) const {
    ++*reads;
    return field(x);
  }
};

/// What rays of a part of the cells came to.
struct SampledRays {
  double rays = 0.0;
  double steps = 0.0;
  double sum = 0.0;  ///< of the means of cells
};

/// Calls `visit(tracer, source, layer)` with one layer of cells of each of the patches on a line through the
/// cube; `tracer` reads the levels by what `viewOf` makes of their fields.
template <class ViewOf, class Visit>
void forEachSample(const RaysCase& what, const Cube& fine, const Cube& coarse, const ViewOf& viewOf,
                   const Visit& visit) {
  const auto nearView = viewOf(fine.field());
  const auto farView = viewOf(coarse.field());
  using View = std::remove_cvref_t<decltype(nearView)>;
  for (std::int64_t first = 0; first < what.fine; first += what.patch) {
    const Index lo{first, (first + what.fine / 2) % what.fine / what.patch * what.patch, first};
    const Box cells{lo, lo + Index{what.patch, what.patch, what.patch}};
    const RayRegion near = fine.region(intersect(grow(cells, uniformHalo(what.halo)), fine.domain()));
    const RayRegion far = coarse.region(coarse.domain());
    const CellSource source{near, RayLaw{what.rays, false, false, {}}, 1};
    static constexpr double kColdAndBlack[] = {0.0, 1.0, 0.0};
    RaySurfaces<TableView> walls{};
    walls.walls.table = TableView(kColdAndBlack, std::ssize(kColdAndBlack));
    walls.walls.spacing = far.spacing;
    const RayLayer<View> coarsest{far, farView};
    const RayTracer<View> tracer{{{near, nearView}, coarsest, coarsest, coarsest}, 2, walls};
    visit(tracer, source, Box{lo, lo + Index{what.patch, what.patch, 1}});
  }
}

/// Counts the cell-steps of the samples, one ray after the other.
inline SampledRays sampleSteps(const RaysCase& what, const Cube& fine, const Cube& coarse) {
  SampledRays sampled;
  std::int64_t reads = 0;
  const auto counting = [&](const Field<const Cube::Medium>& field) { return CountingField{field, &reads}; };
  forEachSample(what, fine, coarse, counting, [&](const auto& tracer, const auto& source, const Box& layer) {
    detail::forEachInOrder(layer,
                           [&](Index x) { sampled.sum += meanOfRays(tracer, source, x, Cube::kIntensity); });
    sampled.rays += static_cast<double>(layer.volume()) * what.rays;
  });
  sampled.steps = static_cast<double>(reads);
  return sampled;
}

}  // namespace tessera::bench
