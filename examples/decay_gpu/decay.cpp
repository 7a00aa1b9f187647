#include "decay.hpp"

#include "components/expression_fill.hpp"
#include "decay_kernels.hpp"

using namespace tessera;

void Decay::declareParameters(ParameterTable& table) const {
  table.real("rate").unit("1/time").doc("share that decays per time").above(0).required();
  table.expression("initial", {"x", "y", "z"}).doc("amount at the start").required();
}

void Decay::configure(const ParameterValues& values, ComponentSetup& setup) {
  rate_ = values.real("rate");
  initial_ = values.expression("initial");
  amount_ = setup.labels.variable<double, Cell>("amount");
  most_ = setup.labels.reduction("decay.most");
}

void Decay::declareInitial(StepPlan& plan) const {
  // An expression of the deck is evaluated on the host: a closure for Cpu alone.
  plan.task("Decay::initial").writes(amount_).runs<Cpu>([u = amount_, f = initial_](const auto& task) {
    fill(task, u, f, task.time());
  });
}

void Decay::declareStep(StepPlan& step) const {
  step.task("Decay::advance")
      .reads(Old, amount_)
      .writes(amount_, inLoop("Decay::advance"))
      .runs(advanceDecay(amount_, rate_));
}

void Decay::declareDiagnostics(StepPlan& plan) const {
  plan.task("Decay::most").reads(Old, amount_).contributes(most_, Max).runs(largestAmount(amount_, most_));
}
