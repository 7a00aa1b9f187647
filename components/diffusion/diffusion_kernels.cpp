#include "components/diffusion/diffusion_kernels.hpp"

#include <span>

#include "components/component_totals.hpp"
#include "components/stencils/laplacian.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

struct AdvanceDiffusion {
  Label<Components<double>, Cell> quantities;
  Diffusivities diffusivities;

  template <class Task>
  void operator()(const Task& task) const {
    const auto all = task.read(Old, quantities);
    const auto allNext = task.write(quantities);
    const Real3 w = task.inverseSquaredSpacing();
    const double dt = task.dt();
    for (std::int32_t c = 0; c < all.count(); ++c) {
      const auto u = all[c];
      const auto next = allNext[c];
      const double d = diffusivities[static_cast<std::size_t>(c)];
      const Real3 byH2{d * w.x, d * w.y, d * w.z};
      forEach(task.exec(), "Diffusion::advance", task.interior(),
              [=] TESSERA_KERNEL(Index x) { next(x) = u(x) + dt * laplacian(u, x, byH2); });
    }
  }
};

/// A number of the mesh: no loop.
struct StableDiffusionDt {
  ReductionLabel stableDt;
  double largest = 1.0;

  template <class Task>
  void operator()(const Task& task) const {
    task.contribute(stableDt, 1.0 / (2.0 * largest * sumOf(task.inverseSquaredSpacing())));
  }
};

struct TotalDiffusion {
  Label<Components<double>, Cell> quantities;
  DiffusionTotals totals;

  template <class Task>
  void operator()(const Task& task) const {
    const auto all = task.read(Old, quantities);
    const auto count = static_cast<std::size_t>(all.count());
    contributeTotals(task, "Diffusion::totals", all, std::span(totals).first(count));
  }
};

[[gnu::weak]] TaskBody advanceDiffusion(Label<Components<double>, Cell> quantities,
                                        const Diffusivities& diffusivities) {
  return taskBody<Cpu, Gpu>(AdvanceDiffusion{quantities, diffusivities});
}

[[gnu::weak]] TaskBody stableDiffusionDt(ReductionLabel stableDt, double largest) {
  return taskBody<Cpu, Gpu>(StableDiffusionDt{stableDt, largest});
}

[[gnu::weak]] TaskBody diffusionTotals(Label<Components<double>, Cell> quantities,
                                       const DiffusionTotals& totals) {
  return taskBody<Cpu, Gpu>(TotalDiffusion{quantities, totals});
}

}  // namespace tessera
