#include "tools/bench/radiation_case.hpp"

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

std::shared_ptr<const Hierarchy> radiationMesh(Extent fineLattice, Extent coarseLattice) {
  Geometry geometry;
  for (int d = 0; d < kAxes; ++d) {
    geometry.cells[d] = fineLattice[d] * kPatchCells / kRatio;
    geometry.periodic[static_cast<std::size_t>(d)] = true;
  }
  const auto coarse = Hierarchy::uniform(geometry, {Division::By::Patches, coarseLattice});
  std::vector<Level> levels{coarse->level(0)};
  std::vector<Patch> patches;
  const std::int64_t finePatches = fineLattice.i * fineLattice.j * fineLattice.k;
  patches.reserve(static_cast<std::size_t>(finePatches));
  PatchId id = coarse->patchCount();
  for (std::int64_t n = 0; n < finePatches; ++n) {
    const Index at{n % fineLattice.i, n / fineLattice.i % fineLattice.j, n / (fineLattice.i * fineLattice.j)};
    patches.push_back({id++, 1, {kPatchCells * at, kPatchCells * (at + Index{1, 1, 1})}});
  }
  levels.emplace_back(1, geometry, Box{{}, kRatio * geometry.cells}, Extent{kRatio, kRatio, kRatio},
                      std::move(patches));
  return std::make_shared<const Hierarchy>(geometry, std::move(levels));
}

}  // namespace tessera::bench
