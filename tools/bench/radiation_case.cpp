#include "tools/bench/radiation_case.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "datawarehouse/task_context.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t kPatchCells = 16;
constexpr std::int64_t kRatio = 4;

/// Tasks of the benchmark are compiled and never run.
struct NoBody {
  template <class Task>
  void operator()(const Task&) const {}
};

using Variable = Label<double, Cell>;

}  // namespace

RadiationCase::RadiationCase() {
  const auto variable = [&](const std::string& name) { return labels.variable<double, Cell>(name); };
  const Variable temperature = variable("temperature");
  const Variable kappa = variable("kappa");
  const Variable emission = variable("emission");
  const Variable divQ = variable("divQ");
  const Variable u = variable("u");
  std::vector<Variable> stages;
  for (int n = 0; n < 8; ++n) stages.push_back(variable("stage" + std::to_string(n)));

  initial.task("Radiation::initial")
      .writes(temperature)
      .writes(kappa)
      .writes(emission)
      .writes(u)
      .runs<Cpu>(NoBody{});

  const auto fine = onlyLevel(1);
  step.task("Flow::properties")
      .on(fine)
      .reads(Old, temperature)
      .writes(kappa)
      .writes(emission)
      .runs<Cpu>(NoBody{});
  step.task("Flow::predict").on(fine).reads(Old, u, halo(2)).writes(stages[0]).runs<Cpu>(NoBody{});
  for (std::size_t n = 0; n < 4; ++n) {
    step.task("Flow::stage" + std::to_string(n + 1))
        .on(fine)
        .reads(New, stages[n], halo(1))
        .writes(stages[n + 1])
        .runs<Cpu>(NoBody{});
  }
  step.task("Flow::source")
      .on(fine)
      .reads(New, stages[4])
      .reads(Old, temperature)
      .writes(stages[5])
      .runs<Cpu>(NoBody{});
  step.task("Radiation::trace")
      .on(fine)
      .reads(New, kappa)
      .reads(New, emission)
      .reads(New, kappa, wholeLevel(0))
      .reads(New, emission, wholeLevel(0))
      .reads(New, temperature, wholeLevel(0))
      .writes(divQ)
      .runs<Cpu>(NoBody{});
  step.task("Flow::energy")
      .on(fine)
      .reads(New, stages[5])
      .reads(New, divQ)
      .writes(stages[6])
      .runs<Cpu>(NoBody{});
  step.task("Flow::correct").on(fine).reads(New, stages[6]).writes(stages[7]).runs<Cpu>(NoBody{});
  step.task("Flow::update").on(fine).reads(New, stages[7]).reads(Old, u).writes(u).runs<Cpu>(NoBody{});
  step.task("Flow::heat")
      .on(fine)
      .reads(New, divQ)
      .reads(Old, temperature)
      .writes(temperature)
      .runs<Cpu>(NoBody{});

  const auto coarse = onlyLevel(0);
  step.task("Radiation::coarsen")
      .on(coarse)
      .reads(New, kappa, fromFiner())
      .reads(New, emission, fromFiner())
      .reads(Old, temperature, fromFiner())
      .writes(kappa)
      .writes(emission)
      .writes(temperature)
      .runs<Cpu>(NoBody{});
  step.task("Radiation::coarseFlux").on(coarse).reads(New, temperature).runs<Cpu>(NoBody{});
}

namespace {

/// The two-level mesh with these fine patches, which `FinePatches` has numbered.
std::shared_ptr<const Hierarchy> twoLevels(Extent fineLattice, Extent coarseLattice,
                                           std::vector<Patch> fine) {
  Geometry geometry;
  for (int d = 0; d < kAxes; ++d) {
    geometry.cells[d] = fineLattice[d] * kPatchCells / kRatio;
    geometry.periodic[static_cast<std::size_t>(d)] = true;
  }
  const auto coarse = Hierarchy::uniform(geometry, {Division::By::Patches, coarseLattice});
  std::vector<Level> levels{coarse->level(0)};
  levels.emplace_back(1, geometry, Box{{}, kRatio * geometry.cells}, Extent{kRatio, kRatio, kRatio},
                      std::move(fine));
  return std::make_shared<const Hierarchy>(geometry, std::move(levels));
}

/// Numbers fine patches behind the coarse ones.
class FinePatches {
 public:
  FinePatches(Extent fineLattice, Extent coarseLattice)
      : next_(coarseLattice.i * coarseLattice.j * coarseLattice.k) {
    patches_.reserve(static_cast<std::size_t>(fineLattice.i * fineLattice.j * fineLattice.k));
  }
  void add(const Box& box) { patches_.push_back({next_++, 1, box}); }
  std::vector<Patch> take() { return std::move(patches_); }

 private:
  PatchId next_;
  std::vector<Patch> patches_;
};

Box latticeBox(Index at) { return {kPatchCells * at, kPatchCells * (at + Index{1, 1, 1})}; }

Index indexOf(std::int64_t n, Extent lattice) {
  return {n % lattice.i, n / lattice.i % lattice.j, n / (lattice.i * lattice.j)};
}

/// An even number of patches along x, and as many along y and z as make up the fraction.
Box clusterOf(Extent lattice, double fraction, RegridPlace place) {
  const double wanted = fraction * static_cast<double>(lattice.i * lattice.j * lattice.k);
  const double side = std::cbrt(wanted);
  Extent size{2 * std::max<std::int64_t>(1, std::llround(side / 2)),
              std::max<std::int64_t>(1, std::llround(side)), 1};
  size.k = std::max<std::int64_t>(1, std::llround(wanted / static_cast<double>(size.i * size.j)));
  if (place == RegridPlace::Octant) lattice = {lattice.i / 2, lattice.j / 2, lattice.k / 2};
  const Index lo{lattice.i / 4 * 2 - size.i / 4 * 2, (lattice.j - size.j) / 2, (lattice.k - size.k) / 2};
  return {lo, lo + size};
}

/// Cuts a pair of patches along x anew: in the way of its number.
void cutPair(const Box& pair, std::int64_t way, FinePatches& boxes) {
  const std::int64_t half = kPatchCells / 2;
  std::vector<std::int64_t> cuts;
  if (way == 0) cuts = {pair.lo.i + 3 * half};
  if (way == 2) cuts = {pair.lo.i + half, pair.lo.i + 3 * half};
  Box left = pair;
  for (const std::int64_t cut : cuts) {
    left.hi.i = cut;
    boxes.add(left);
    left.lo.i = cut;
  }
  left.hi.i = pair.hi.i;
  boxes.add(left);
}

}  // namespace

std::shared_ptr<const Hierarchy> radiationMesh(Extent fineLattice, Extent coarseLattice) {
  FinePatches fine(fineLattice, coarseLattice);
  const std::int64_t count = fineLattice.i * fineLattice.j * fineLattice.k;
  for (std::int64_t n = 0; n < count; ++n) fine.add(latticeBox(indexOf(n, fineLattice)));
  return twoLevels(fineLattice, coarseLattice, fine.take());
}

std::shared_ptr<const Hierarchy> regriddedMesh(Extent fineLattice, Extent coarseLattice, double fraction,
                                               RegridPlace place) {
  FinePatches fine(fineLattice, coarseLattice);
  const Box cluster = clusterOf(fineLattice, fraction, place);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> draw(0.0, 1.0);
  const std::int64_t count = fineLattice.i * fineLattice.j * fineLattice.k;
  for (std::int64_t n = 0; n < count; n += 2) {
    const Index at = indexOf(n, fineLattice);
    const Box pair = boundingBox(latticeBox(at), latticeBox(at + Index{1, 0, 0}));
    if (place == RegridPlace::Scattered ? draw(random) < fraction : cluster.contains(at)) {
      cutPair(pair, (at.j + at.k) % 3, fine);
    } else {
      fine.add(latticeBox(at));
      fine.add(latticeBox(at + Index{1, 0, 0}));
    }
  }
  return twoLevels(fineLattice, coarseLattice, fine.take());
}

}  // namespace tessera::bench
