#include "components/error_columns.hpp"

#include <algorithm>
#include <cmath>

#include "components/error_norms_kernels.hpp"
#include "components/expression_fill.hpp"
#include "components/reflux/beside_finer.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

/// A norm would take it for no error.
[[noreturn]] void notANumber(Index x, const Level& level, double time) {
  throw NumericalError(Message("the exact solution is not a number")
                           .line("cell  ", asText(x), " of level ", level.number(), ", t = ", time)
                           .line("fix   give an expression that has a value everywhere, or leave out `exact`")
                           .text());
}

/// Calls `visit(Box)` for what counts of the patch.
template <class Task, Centering C, class Visit>
void forEachCounted(const Task& task, Label<double, C> label, Visit&& visit) {
  if constexpr (C == Cell) {
    task.forEachUncovered(visit);
  } else {
    forEachUncoveredFace(task, label, visit);
  }
}

}  // namespace

ErrorColumns::ErrorColumns(std::string prefix, const Geometry& geometry)
    : prefix_(std::move(prefix)),
      volume_((geometry.upper.x - geometry.lower.x) * (geometry.upper.y - geometry.lower.y) *
              (geometry.upper.z - geometry.lower.z)) {}

template <Centering C>
void ErrorColumns::declare(StepPlan& plan, const One& one) const {
  const Label<double, C> label{one.variable};
  plan.task(prefix_ + "::errors" + (all_.size() > 1 ? " of " + one.name : ""))
      .reads(Old, label)
      .contributes(one.l1, Sum)
      .contributes(one.l2, Sum)
      .contributes(one.max, Max)
      .template runs<Cpu>([label, one](const auto& task) {
        const auto u = task.read(Old, label);
        const double volume = cellVolume(task.level());
        ExactSum means;
        ExactSum squares;
        double largest = 0.0;
        const auto add = [&](Index x, double value) {
          if (std::isnan(value)) notANumber(x, task.level(), task.time());
          const double error = std::abs(u(x) - value);
          means.add(error * volume);
          squares.add(error * error * volume);
          // A number that is none shall show.
          largest = std::isnan(error) ? error : std::max(largest, error);
        };
        forEachCounted(task, label, [&](const Box& box) {
          forEachValue(one.exact, task.level(), box, C, task.time(), add);
        });
        task.contribute(one.l1, means);
        task.contribute(one.l2, squares);
        task.contribute(one.max, largest);
      });
}

void ErrorColumns::declareTasks(StepPlan& plan) const {
  for (const One& one : all_) {
    if (one.centering == Cell) declare<Cell>(plan, one);
    if (one.centering == FaceX) declare<FaceX>(plan, one);
    if (one.centering == FaceY) declare<FaceY>(plan, one);
    if (one.centering == FaceZ) declare<FaceZ>(plan, one);
  }
}

std::vector<Diagnostic> ErrorColumns::diagnostics() const {
  std::vector<Diagnostic> columns;
  const double volume = volume_;
  for (const One& one : all_) {
    const auto add = [&](const char* norm, ReductionLabel reduction, std::function<double(double)> show) {
      columns.push_back(
          {.name = one.name + norm, .reduction = reduction, .show = std::move(show), .unit = one.unit});
    };
    add(".error_l1", one.l1, [volume](double sum) { return sum / volume; });
    add(".error_l2", one.l2, [volume](double sum) { return std::sqrt(sum / volume); });
    add(".error_max", one.max, {});
  }
  return columns;
}

}  // namespace tessera
