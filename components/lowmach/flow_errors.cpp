#include "components/lowmach/flow_errors.hpp"

#include <algorithm>
#include <cmath>

#include "components/error_norms_kernels.hpp"
#include "components/expression_fill.hpp"

namespace tessera {

FlowErrors::FlowErrors(const Geometry& geometry)
    : volume_((geometry.upper.x - geometry.lower.x) * (geometry.upper.y - geometry.lower.y) *
              (geometry.upper.z - geometry.lower.z)) {}

template <Centering C>
void FlowErrors::declare(StepPlan& plan, const One& one) {
  const Label<double, C> label{one.variable};
  plan.task("Lowmach::error of " + one.name)
      .reads(Old, label)
      .contributes(one.l2, Sum)
      .contributes(one.max, Max)
      .template runs<Cpu>([label, one](const auto& task) {
        const auto u = task.read(Old, label);
        const double volume = cellVolume(task.level());
        ExactSum squares;
        double largest = 0.0;
        task.forEachOwned(label, [&](const Box& box) {
          forEachValue(one.exact, task.level(), box, C, task.time(), [&](Index x, double value) {
            const double error = std::abs(u(x) - value);
            squares.add(error * error * volume);
            // A number that is none shall show.
            largest = std::isnan(error) ? error : std::max(largest, error);
          });
        });
        task.contribute(one.l2, squares);
        task.contribute(one.max, largest);
      });
}

void FlowErrors::declareTasks(StepPlan& plan) const {
  for (const One& one : all_) {
    if (one.centering == Cell) declare<Cell>(plan, one);
    if (one.centering == FaceX) declare<FaceX>(plan, one);
    if (one.centering == FaceY) declare<FaceY>(plan, one);
    if (one.centering == FaceZ) declare<FaceZ>(plan, one);
  }
}

std::vector<Diagnostic> FlowErrors::diagnostics() const {
  std::vector<Diagnostic> columns;
  for (const One& one : all_) {
    columns.push_back(
        {one.name + ".error_l2", one.l2, [volume = volume_](double sum) { return std::sqrt(sum / volume); }});
    columns.push_back({one.name + ".error_max", one.max, {}});
  }
  return columns;
}

}  // namespace tessera
