// What following rays costs one core of the host: the benchmark of Burns and Christon on a fine level and the
// whole of a coarser one. A cell-step is one ray in one cell.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

#include "components/rmcrt/ray_batch.hpp"
#include "components/rmcrt/ray_source.hpp"
#include "tools/bench/cpu_clock.hpp"

namespace tessera {
namespace {

using Medium = MediumCell<double>;

/// The medium of a level of n^3 cells.
class Cube {
 public:
  explicit Cube(std::int64_t n) : domain_{{0, 0, 0}, {n, n, n}}, cells_(static_cast<std::size_t>(n * n * n)) {
    const double h = 1.0 / static_cast<double>(n);
    const auto hat = [h](std::int64_t i) {
      return 1.0 - 2.0 * std::abs((static_cast<double>(i) + 0.5) * h - 0.5);
    };
    std::size_t at = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) cells_[at++] = {{0.9 * hat(i) * hat(j) * hat(k) + 0.1, 0.318}};
      }
    }
  }
  Field<const Medium> field() const { return {cells_.data(), Layout(domain_, false, false)}; }
  RayRegion region(const Box& cells) const {
    const double h = 1.0 / static_cast<double>(domain_.hi.i);
    return {{0, 0, 0}, {h, h, h}, cells, domain_};
  }
  const Box& domain() const { return domain_; }

 private:
  Box domain_;
  std::vector<Medium> cells_;
};

/// A field that counts how often it is read: once in each cell-step.
struct CountingField {
  Field<const Medium> field;
  std::int64_t* reads;

  Medium operator()(Index x) const {
    ++*reads;
    return field(x);
  }
};

/// Takes the means of all cells.
struct Keep {
  double* sum;

  bool wants(Index) const { return true; }
  double own(Index) const { return 0.318; }
  void finish(Index, double mean) const { *sum += mean; }
};

struct Figures {
  double rays = 0.0;
  double steps = 0.0;
  double seconds = 0.0;
  double together = 0.0;  ///< sums of means, of rays that the host follows together and one after the other
  double single = 0.0;
};

/// One row of cells of each of some patches.
Figures measure(const Cube& fine, const Cube& coarse, std::int64_t patch, std::int64_t halo,
                std::uint32_t rays) {
  Figures figures;
  const bench::CpuClock clock;
  std::int64_t reads = 0;
  const std::int64_t n = fine.domain().hi.i;
  for (std::int64_t first = 0; first < n; first += patch) {
    const Index lo{first, (first + n / 2) % n / patch * patch, first};
    const Box cells{lo, lo + Index{patch, patch, patch}};
    const RayRegion near = fine.region(intersect(grow(cells, uniformHalo(halo)), fine.domain()));
    const RayRegion far = coarse.region(coarse.domain());
    const CellSource source{near, RayLaw{rays, false, false, {}}, 1};
    const Box row{lo, lo + Index{patch, 1, 1}};
    const double begin = clock.seconds();
    followFromBox<Medium>({near, far, far, fine.field(), coarse.field(), coarse.field(), false, {}}, source,
                          Keep{&figures.together}, row);
    figures.seconds += clock.seconds() - begin;
    const RayTracer<CountingField> counting{
        near,  far, far, {fine.field(), &reads}, {coarse.field(), &reads}, {coarse.field(), &reads},
        false, {}};
    for (Index x = row.lo; x.i < row.hi.i; ++x.i) figures.single += meanOfRays(counting, source, x, 0.318);
    figures.rays += static_cast<double>(patch * rays);
  }
  figures.steps = static_cast<double>(reads);
  return figures;
}

void print(std::int64_t fineCells, std::int64_t ratio, std::int64_t patch, std::uint32_t rays) {
  const Cube fine(fineCells);
  const Cube coarse(fineCells / ratio);
  const Figures f = measure(fine, coarse, patch, 4, rays);
  std::cout << std::setw(6) << fineCells << std::setw(6) << fineCells / ratio << std::setw(7) << patch
            << std::setw(7) << rays << std::fixed << std::setprecision(1) << std::setw(12) << f.steps / f.rays
            << std::setprecision(3) << std::setw(10) << 1e-6 * f.rays / f.seconds << std::setprecision(1)
            << std::setw(16) << 1e-6 * f.steps / f.seconds
            << (f.together == f.single ? "" : "   vectors and single rays differ") << "\n";
}

}  // namespace
}  // namespace tessera

int main() {
  std::cout << "  fine coarse patch   rays  steps/ray   Mrays/s  Mcell-steps/s\n";
  tessera::print(64, 2, 16, 100);
  tessera::print(128, 4, 16, 100);
  tessera::print(128, 4, 32, 100);
  tessera::print(128, 4, 16, 10);
  return 0;
}
