#include "components/lowmach/levels/flow_levels.hpp"

#include "components/average_down.hpp"
#include "components/lowmach/lowmach_kernels.hpp"

namespace tessera {
namespace {

std::string predictPlan(const std::string& number) { return "lowmach.predict_" + number; }

/// The mean of finer faces, in a plan or, without a name, in the initial one.
void averageFaces(StepPlan& plan, const std::string& name, const FlowFaces& faces, const std::string& in,
                  const std::string& of = "", LevelSelection levels = allButFinest()) {
  forEachAxis(faces, [&](int axis, auto label) {
    TaskBuilder task = averageDown(plan, name + "_" + "xyz"[axis], label, of);
    task.on(levels);
    if (!in.empty()) task.in(in);
  });
}

void readsFinerFaces(TaskBuilder& task, Generation generation, const FlowFaces& faces) {
  forEachAxis(faces, [&](int, auto label) { task.reads(generation, label, fromFiner()); });
}

/// The mean, by mass where the density varies, of what is carried.
TaskBuilder averageCarried(StepPlan& plan, const std::string& name, const FlowState& state, std::size_t which,
                           const std::string& of) {
  const Label<double, Cell> label = state.carried[which].value;
  if (state.density.id < 0) return averageDown(plan, name, label, of);
  TaskBuilder task = plan.task(name);
  task.on(allButFinest())
      .reads(New, label, fromFiner())
      .reads(New, state.density, fromFiner())
      .modifies(label, from(of))
      .withoutDt()
      .runs(meanByMass(state, which));
  return task;
}

}  // namespace

FlowLevels::FlowLevels(ComponentSetup& setup, const FlowParams& params, const EddyLabels& eddies,
                       const FlowSettings& settings)
    : count_(setup.levels),
      refluxes_(setup.keepsFluxes()),
      params_(params),
      prolongation_(setup.prolongation) {
  if (count_ == 1) return;
  LabelTable& labels = setup.labels;
  const auto lines = prolongation_.value_or(Prolongation::Linear);
  forEachAxis(params.flux, [&](int, auto label) { labels.setProlongation(label, lines); });
  if (params.eddies.isThere())
    labels.setProlongation(params.eddies.viscosity, prolongation_.value_or(Prolongation::LimitedLinear));
  if (params.eddies.model == Turbulence::Dynamic) {
    labels.setProlongation(eddies.velocity, lines);
    labels.setProlongation(eddies.strain, lines);
  }
  // Cells are solid as a whole, whatever the deck says of other variables.
  if (params.solids.areThere) {
    labels.setProlongation(params.solids.fluid, Prolongation::Constant);
    forEachAxis(params.solids.open,
                [&](int, auto label) { labels.setProlongation(label, Prolongation::Linear); });
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    names_[n] = settings.carried[n].name;
    if (!refluxes_ || !settings.carried[n].isThere) continue;
    const std::string begin = "lowmach." + names_[n];
    faces_[n].value = flowFaces(labels, setup.geometry, begin + "_on_faces", "");
    faces_[n].spread = flowFaces(labels, setup.geometry, begin + "_spread", "");
    if (params.densityVaries)
      faces_[n].after = flowFaces(labels, setup.geometry, begin + "_spread_after", "");
  }
}

void FlowLevels::prolong(LabelTable& labels, const FlowState& state) const {
  if (!areSeveral()) return;
  const auto lines = prolongation_.value_or(Prolongation::Linear);
  const auto limited = prolongation_.value_or(Prolongation::LimitedLinear);
  forEachAxis(state.velocity, [&](int, auto label) { labels.setProlongation(label, lines); });
  if (params_.densityVaries) labels.setProlongation(state.density, limited);
  for (const CarriedLabels& carried : state.carried)
    if (carried.isThere()) labels.setProlongation(carried.value, params_.limitedScalars ? limited : lines);
}

void FlowLevels::declareInitial(StepPlan& plan, const FlowState& state) const {
  if (!areSeveral()) return;
  averageFaces(plan, "Lowmach::meanVelocity", state.velocity, "",
               params_.solids.areThere ? "Lowmach::stop" : "");
  for (std::size_t n = 0; n < kFlowScalars; ++n)
    if (state.carried[n].isThere()) averageCarried(plan, "Lowmach::mean_" + names_[n], state, n, "");
  if (params_.densityVaries) averageDown(plan, "Lowmach::meanDensity", state.density);
}

void FlowLevels::declareSolids(StepPlan& plan, const std::string& open, const std::string& fluid) const {
  if (!areSeveral()) return;
  averageFaces(plan, "Lowmach::meanOpen", params_.solids.open, "", open);
  TaskBuilder shutIn = plan.task("Lowmach::shutIn");
  shutIn.withoutDt().modifies(params_.solids.fluid, from(fluid));
  readsFaces(shutIn, New, params_.solids.open);
  shutIn.runs(solidWhereShutIn(params_));
  averageDown(plan, "Lowmach::meanFluid", params_.solids.fluid, "Lowmach::shutIn");
}

void FlowLevels::declareFlux(StepPlan& step, const std::string& number) const {
  if (areSeveral()) averageFaces(step, "Lowmach::meanFlux" + number, params_.flux, carryPlan(number));
}

void FlowLevels::declareDensity(StepPlan& step, const FlowStage& stage, const std::string& number) const {
  if (areSeveral())
    averageDown(step, "Lowmach::meanDensity" + number, stage.to.density).in(carryPlan(number));
}

void FlowLevels::declarePredicted(StepPlan& step, const FlowStage& stage, const std::string& number) const {
  if (areSeveral())
    averageFaces(step, "Lowmach::meanPredicted" + number, stage.to.velocity, predictPlan(number));
}

void FlowLevels::declareProjected(StepPlan& step, const FlowStage& stage, const std::string& plan,
                                  const std::string& coarsest, const std::string& finer) const {
  averageFaces(step, coarsest + "Mean", stage.to.velocity, plan, coarsest, onlyLevel(0));
  const std::uint64_t between =
      ((std::uint64_t{1} << static_cast<unsigned>(count_ - 1)) - 1) & ~std::uint64_t{1};
  if (between != 0) averageFaces(step, finer + "Mean", stage.to.velocity, plan, finer, someLevels(between));
}

void FlowLevels::readsModels(TaskBuilder& task, Generation generation) const {
  if (params_.eddies.isThere()) task.reads(generation, params_.eddies.viscosity, faceHalo(1));
  if (params_.solids.areThere) readsFaces(task, Old, params_.solids.open);
}

void FlowLevels::readsFluid(TaskBuilder& task) const {
  if (params_.solids.areThere) task.reads(Old, params_.solids.fluid);
}

void FlowLevels::readsFluidAround(TaskBuilder& task) const {
  if (params_.solids.areThere)
    task.reads(Old, params_.solids.fluid, halo(1)).reads(Old, params_.solids.fluid, fromCoarser(1));
}

void FlowLevels::declareCarried(StepPlan& step, const FlowStage& stage, std::size_t which,
                                const std::string& number, const std::string& carry) const {
  if (!areSeveral()) return;
  const std::string name = names_[which] + number;
  const std::string reflux = "Lowmach::reflux_" + name;
  if (refluxes_) {
    const CarriedFaces& faces = faces_[which];
    const FlowFaces& masses = params_.densityVaries ? params_.flux : stage.from.velocity;
    const Generation generation = params_.densityVaries ? New : stage.generation;
    TaskBuilder on = step.task("Lowmach::faces_" + name);
    on.in(carryPlan(number))
        .withoutDt()
        .reads(stage.generation, stage.from.carried[which].value, faceHalo(2));
    readsFaces(on, generation, masses);
    readsModels(on, stage.generation);
    writesFaces(on, faces.value);
    writesFaces(on, faces.spread);
    on.runs(carriedOnFaces(params_, stage, which, faces));

    TaskBuilder task = step.task(reflux);
    task.in(carryPlan(number)).on(allButFinest());
    task.reads(stage.generation, stage.from.carried[which].value)
        .modifies(stage.to.carried[which].value, from(carry));
    if (params_.densityVaries) task.reads(New, stage.to.density);
    readsFluid(task);
    readsFaces(task, generation, masses);
    readsFinerFaces(task, generation, masses);
    for (const FlowFaces& one : {faces.value, faces.spread}) {
      readsFaces(task, New, one);
      readsFinerFaces(task, New, one);
    }
    task.runs(refluxCarried(params_, stage, which, faces));
  }
  averageCarried(step, "Lowmach::mean_" + name, stage.to, which, refluxes_ ? reflux : carry)
      .in(carryPlan(number));
}

void FlowLevels::declareExpansion(StepPlan& step, const FlowStage& stage, const std::string& number,
                                  const std::string& of) const {
  if (!areSeveral()) return;
  const std::string reflux = "Lowmach::refluxExpansion" + number;
  if (refluxes_) {
    TaskBuilder task = step.task(reflux);
    task.in(predictPlan(number)).on(allButFinest()).withoutDt().modifies(params_.expansion, from(of));
    if (params_.state == StateKind::Table) task.reads(params_.table);
    readsFluid(task);
    for (std::size_t n = 0; n < kFlowScalars; ++n) {
      const Label<double, Cell> label = stage.to.carried[n].value;
      if (label.id < 0) continue;
      TaskBuilder on = step.task("Lowmach::spread_" + names_[n] + number);
      on.in(predictPlan(number)).withoutDt().reads(New, label, faceHalo(1));
      readsModels(on, New);
      writesFaces(on, faces_[n].after);
      on.runs(spreadOnFaces(params_, stage, n, faces_[n]));
      task.reads(New, label);
      readsFaces(task, New, faces_[n].after);
      readsFinerFaces(task, New, faces_[n].after);
    }
    task.runs(refluxExpansion(params_, stage, faces_));
  }
  averageDown(step, "Lowmach::meanExpansion" + number, params_.expansion, refluxes_ ? reflux : of)
      .in(predictPlan(number));
}

}  // namespace tessera
