#include "components/lowmach/lowmach.hpp"

#include <sstream>

#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

constexpr std::array kCarriedNames{"mixture_fraction", "temperature"};
constexpr std::array kCarriedUnits{"1", "temperature"};

std::string withAxis(const char* name, int axis) { return std::string(name) + "_" + "xyz"[axis]; }

/// What the stages of a method take of Old, and the time of each, as parts.
struct StageParts {
  double ofOld;
  double at;
};
std::vector<StageParts> stagesOf(bool three) {
  if (three) return {{0.0, 1.0}, {0.75, 0.5}, {1.0 / 3.0, 1.0}};
  return {{0.0, 1.0}, {0.5, 1.0}};
}

/// A task that writes noughts everywhere.
void declareNoughts(TaskBuilder task, Label<double, Cell> label) {
  task.writes(label).withoutDt().runs<Cpu>([=](const auto& patch) {
    const auto field = patch.write(label);
    forEach(patch.exec(), "Lowmach::fill", patch.interior(), [=](Index x) { field(x) = 0.0; });
  });
}

}  // namespace

void Lowmach::configure(const ParameterValues& values, ComponentSetup& setup) {
  DeckDiagnostics findings;
  if (setup.cfl > 1.0) {
    std::ostringstream text;
    text << "time.cfl is " << setup.cfl << ", and lowmach is unstable above 1; give 1 or less (0.5 is usual)";
    findings.error(setup.cflWhere, text.str());
  }
  if (setup.geometry.activeAxes() == 0)
    findings.error(values.tableWhere(),
                   "lowmach has no axis to flow along; give grid.cells more than one cell");
  findings.throwIfErrors();
  settings_ = readFlowSettings(values, setup.geometry);
  params_ = settings_.params;
  if (const auto& heat = settings_.carried[kTemperature].source) setup.composed.push_back(*heat);
  stableDt_ = setup.stableDt;
  configureStages(setup);
  configurePressure(setup);
  configureColumns(setup);
}

/// The variables of a moment; of a stage, where `part` is its time.
FlowState Lowmach::makeState(ComponentSetup& setup, const std::string& prefix, double part) {
  LabelTable& labels = setup.labels;
  const FlowBoundaries& boundaries = settings_.boundaries;
  const bool isStage = !prefix.empty();
  FlowState state;
  state.velocity = flowFaces(labels, setup.geometry, prefix + "velocity", "length/time");
  forEachAxis(state.velocity, [&](int axis, auto label) {
    labels.setBoundary(label, boundaries.velocity[static_cast<std::size_t>(axis)]);
  });
  if (isStage) {
    const FlowFaces& whole = state_.velocity;
    if (whole.x.id >= 0) labels.approximates(state.velocity.x, whole.x, part);
    if (whole.y.id >= 0) labels.approximates(state.velocity.y, whole.y, part);
    if (whole.z.id >= 0) labels.approximates(state.velocity.z, whole.z, part);
  }
  if (params_.densityVaries) {
    state.density = labels.variable<double, Cell>(prefix + "density", "mass/length^3");
    labels.setBoundary(state.density, boundaries.continued);
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!settings_.carried[n].isThere) continue;
    CarriedLabels& carried = state.carried[n];
    carried.value = labels.variable<double, Cell>(prefix + kCarriedNames[n], kCarriedUnits[n]);
    labels.setBoundary(carried.value, boundaries.carried[n]);
    if (isStage) labels.approximates(carried.value, state_.carried[n].value, part);
    if (!settings_.carried[n].source) continue;
    const std::string source = (isStage ? prefix : "lowmach.") + kCarriedNames[n] + "_source";
    carried.source = labels.variable<double, Cell>(source, "1/time");
  }
  return state;
}

void Lowmach::configureStages(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  state_ = makeState(setup, "", 1.0);
  const std::vector<StageParts> parts = stagesOf(settings_.threeStages);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    Stage stage;
    stage.number = std::to_string(n + 1);
    stage.begin = n == 0 ? 0.0 : parts[n - 1].at;
    stage.end = parts[n].at;
    stage.flow.generation = n == 0 ? Old : New;
    stage.flow.from = n == 0 ? state_ : stages_.back().flow.to;
    stage.flow.ofOld = parts[n].ofOld;
    stage.flow.ofStage = 1.0 - parts[n].ofOld;
    stage.flow.to = state_;
    if (n + 1 < parts.size())
      stage.flow.to = makeState(setup, "lowmach.stage_" + stage.number + "_", stage.end);
    if (settings_.boundaries.hasGiven()) {
      stage.entering = labels.variable<double, Cell>("lowmach.entering_" + stage.number, "length/time");
      labels.setBoundary(stage.entering, settings_.boundaries.entering);
      if (n > 0) labels.approximates(stage.entering, stages_.front().entering, stage.end);
    }
    stages_.push_back(std::move(stage));
  }
}

void Lowmach::configurePressure(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  const Geometry& geometry = setup.geometry;
  system_.solution = labels.variable<double, Cell>("pressure", "mass/(length time^2)");
  system_.rightHandSide = labels.variable<double, Cell>("lowmach.right_hand_side", "1/time^2");
  labels.setBoundary(system_.solution, settings_.boundaries.pressure);
  if (params_.hasForce) params_.force = flowFaces(labels, geometry, "lowmach.force", "mass/(length time)^2");
  system_.coefficient = 1.0 / params_.density;
  if (!params_.densityVaries) return;
  params_.flux = flowFaces(labels, geometry, "lowmach.flux", "mass/(length^2 time)");
  forEachAxis(params_.flux,
              [&](int, auto label) { labels.setBoundary(label, settings_.boundaries.continued); });
  params_.lightness = flowFaces(labels, geometry, "lowmach.lightness", "length^3/mass");
  system_.faces = FaceCoefficients{params_.lightness.x, params_.lightness.y, params_.lightness.z};
  params_.expansion = labels.variable<double, Cell>("lowmach.expansion", "1/time");
  params_.isClosed = settings_.boundaries.isClosed();
  if (params_.isClosed) params_.excess = labels.reduction("lowmach.excess");
}

void Lowmach::configureColumns(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  const auto named = [&](const std::string& what) { return labels.reduction("lowmach." + what); };
  errors_ = FlowErrors(setup.geometry);
  forEachAxis(state_.velocity, [&](int axis, auto label) {
    const auto d = static_cast<std::size_t>(axis);
    if (settings_.exact[d])
      errors_.add(labels, "lowmach." + withAxis("velocity", axis), label, *settings_.exact[d]);
    totals_.momentum[d] = named(withAxis("momentum", axis));
  });
  if (settings_.exactPressure)
    errors_.add(labels, "lowmach.pressure", system_.solution, *settings_.exactPressure);
  totals_.kineticEnergy = named("kinetic_energy");
  totals_.divergence = named("divergence");
  totals_.speed = named("max_velocity");
  if (params_.densityVaries) {
    if (settings_.exactDensity)
      errors_.add(labels, "lowmach.density", state_.density, *settings_.exactDensity);
    totals_.mass = named("mass");
    totals_.leastDensity = named("min_density");
    totals_.largestDensity = named("max_density");
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!settings_.carried[n].isThere) continue;
    const std::string name = kCarriedNames[n];
    if (settings_.carried[n].exact)
      errors_.add(labels, "lowmach." + name, state_.carried[n].value, *settings_.carried[n].exact);
    totals_.carried[n] = named(name);
    totals_.least[n] = named("min_" + name);
    totals_.largest[n] = named("max_" + name);
  }
}

void Lowmach::declareInitial(StepPlan& plan) const {
  forEachAxis(state_.velocity, [&](int axis, auto label) {
    plan.task(withAxis("Lowmach::initial", axis))
        .writes(label)
        .template runs<Cpu>([label, f = settings_.initial[static_cast<std::size_t>(axis)]](const auto& task) {
          fill(task, label, f, task.time());
        });
  });
  declareNoughts(plan.task("Lowmach::noPressure"), system_.solution);
  declareInitialCarried(plan);
  if (params_.densityVaries) {
    declareNoughts(plan.task("Lowmach::noExpansion"), params_.expansion);
    TaskBuilder density = plan.task("Lowmach::initialDensity");
    density.writes(state_.density).withoutDt();
    for (const CarriedLabels& carried : state_.carried)
      if (carried.isThere()) density.reads(New, carried.value);
    density.runs(densityOfState(params_, state_));
  }
  declareStableDt(plan.task("Lowmach::stableDt"));
}

void Lowmach::declareInitialCarried(StepPlan& plan) const {
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    const CarriedSettings& settings = settings_.carried[n];
    const CarriedLabels& labels = state_.carried[n];
    const auto fills = [&](const std::string& name, Label<double, Cell> label, const Expression& f) {
      plan.task(name).writes(label).runs<Cpu>(
          [label, f](const auto& task) { fill(task, label, f, task.time()); });
    };
    if (labels.isThere())
      fills(std::string("Lowmach::initial_") + kCarriedNames[n], labels.value, settings.initial);
    if (settings.source)
      fills(std::string("Lowmach::initialSource_") + kCarriedNames[n], labels.source, *settings.source);
  }
}

void Lowmach::declareStep(StepPlan& step) const {
  for (const Stage& stage : stages_) {
    declarePrediction(step, stage);
    declareCorrection(step, stage);
  }
}

void Lowmach::declarePrediction(StepPlan& step, const Stage& stage) const {
  if (params_.hasForce) declareForce(step, stage);
  if (params_.densityVaries) declareDensity(step, stage);
  for (std::size_t n = 0; n < kFlowScalars; ++n)
    if (settings_.carried[n].isThere) declareCarried(step, stage, n);
  declareMomentum(step, stage);
  declareDivergence(step, stage);
}

/// Mass through faces, and the density that it leaves.
void Lowmach::declareDensity(StepPlan& step, const Stage& stage) const {
  const FlowStage& flow = stage.flow;
  TaskBuilder flux = step.task("Lowmach::flux" + stage.number);
  flux.in("lowmach.predict_" + stage.number).withoutDt();
  readsFaces(flux, flow.generation, flow.from.velocity);
  for (const CarriedLabels& carried : flow.from.carried)
    if (carried.isThere()) flux.reads(flow.generation, carried.value, faceHalo(2));
  writesFaces(flux, params_.flux);
  flux.runs(fluxOfMass(params_, flow));

  TaskBuilder density = step.task("Lowmach::density" + stage.number);
  density.in("lowmach.predict_" + stage.number).reads(Old, state_.density).writes(flow.to.density);
  if (flow.generation != Old) density.reads(New, flow.from.density);
  readsFaces(density, New, params_.flux);
  density.runs(advanceDensity(params_, state_, flow));

  TaskBuilder lightness = step.task("Lowmach::lightness" + stage.number);
  lightness.in("lowmach.predict_" + stage.number).withoutDt().reads(New, flow.to.density, faceHalo(1));
  writesFaces(lightness, params_.lightness);
  lightness.runs(lightnessOfFaces(params_, flow));
}

void Lowmach::declareCarried(StepPlan& step, const Stage& stage, std::size_t which) const {
  const FlowStage& flow = stage.flow;
  const std::string plan = "lowmach.predict_" + stage.number;
  const std::string name = kCarriedNames[which] + stage.number;
  const CarriedLabels& from = flow.from.carried[which];
  const CarriedLabels& to = flow.to.carried[which];
  if (to.source.id >= 0) {
    step.task("Lowmach::source_" + name)
        .in(plan)
        .writes(to.source)
        .runs<Cpu>([label = to.source, f = *settings_.carried[which].source, part = stage.end](
                       const auto& task) { fill(task, label, f, task.time() + part * task.dt()); });
  }
  TaskBuilder carry = step.task("Lowmach::carry_" + name);
  carry.in(plan).reads(flow.generation, from.value, faceHalo(2)).writes(to.value);
  if (flow.generation != Old) carry.reads(Old, state_.carried[which].value);
  if (from.source.id >= 0) carry.reads(flow.generation, from.source);
  if (params_.densityVaries) {
    carry.reads(Old, state_.density).reads(New, flow.to.density);
    readsFaces(carry, New, params_.flux);
  } else {
    readsFaces(carry, flow.generation, flow.from.velocity);
  }
  carry.runs(advanceCarried(params_, state_, flow, which));
}

void Lowmach::declareMomentum(StepPlan& step, const Stage& stage) const {
  const FlowStage& flow = stage.flow;
  const std::string plan = "lowmach.predict_" + stage.number;
  const bool enters = settings_.boundaries.hasGiven();
  if (enters) declareNoughts(step.task("Lowmach::enter" + stage.number).in(plan), stage.entering);
  TaskBuilder predict = step.task("Lowmach::predict" + stage.number);
  predict.in(plan);
  readsFaces(predict, flow.generation, flow.from.velocity, aroundFaces(params_.limited ? 2 : 1));
  if (flow.generation != Old) readsFaces(predict, Old, state_.velocity);
  if (params_.hasForce) readsFaces(predict, New, params_.force);
  if (enters) predict.reads(New, stage.entering, halo(1));
  if (params_.densityVaries) {
    readsFaces(predict, New, params_.flux, aroundFaces(1));
    predict.reads(Old, state_.density, halo(1)).reads(New, flow.to.density, halo(1));
    if (flow.generation != Old) predict.reads(New, flow.from.density, halo(1));
  }
  if (params_.viscosityByMixture != 0.0)
    predict.reads(flow.generation, flow.from.carried[kMixture].value, halo(1));
  writesFaces(predict, flow.to.velocity);
  predict.runs(predictVelocity(params_, state_, flow, stage.entering));
}

void Lowmach::declareDivergence(StepPlan& step, const Stage& stage) const {
  const FlowStage& flow = stage.flow;
  const std::string plan = "lowmach.predict_" + stage.number;
  if (params_.densityVaries) {
    TaskBuilder expansion = step.task("Lowmach::expansion" + stage.number);
    expansion.in(plan).reads(New, flow.to.density).writes(params_.expansion);
    for (const CarriedLabels& carried : flow.to.carried) {
      if (carried.isThere()) expansion.reads(New, carried.value, faceHalo(1));
      if (carried.source.id >= 0) expansion.reads(New, carried.source);
    }
    expansion.runs(expansionOfFlow(params_, flow));
  }
  TaskBuilder divergence = step.task("Lowmach::rightHandSide" + stage.number);
  divergence.in(plan).writes(system_.rightHandSide);
  if (params_.densityVaries) divergence.reads(New, params_.expansion);
  readsFaces(divergence, New, flow.to.velocity);
  if (params_.isClosed) divergence.contributes(params_.excess, Sum);
  divergence.runs(divergenceToRemove(params_, flow, system_.rightHandSide));
  if (!params_.isClosed) return;
  step.task("Lowmach::keepVolume" + stage.number)
      .in("lowmach.balance_" + stage.number)
      .reads(params_.excess)
      .modifies(system_.rightHandSide)
      .modifies(params_.expansion)
      .runs(keepVolume(params_, flow, system_.rightHandSide));
}

void Lowmach::declareForce(StepPlan& step, const Stage& stage) const {
  forEachAxis(params_.force, [&](int axis, auto label) {
    step.task(withAxis(("Lowmach::force" + stage.number).c_str(), axis))
        .in("lowmach.predict_" + stage.number)
        .writes(label)
        .template runs<Cpu>([label, f = settings_.force[static_cast<std::size_t>(axis)], part = stage.begin](
                                const auto& task) { fill(task, label, f, task.time() + part * task.dt()); });
  });
}

void Lowmach::declareCorrection(StepPlan& step, const Stage& stage) const {
  const std::string plan = "lowmach.correct_" + stage.number;
  TaskBuilder project = step.task("Lowmach::project" + stage.number);
  project.in(plan).reads(New, system_.solution, halo(1));
  if (params_.densityVaries) readsFaces(project, New, params_.lightness);
  forEachAxis(stage.flow.to.velocity, [&](int, auto label) { project.modifies(label); });
  project.runs(projectVelocity(params_, stage.flow, system_.solution));
  if (isLast(stage)) declareStableDt(step.task("Lowmach::stableDt").in(plan));
}

void Lowmach::declareStableDt(TaskBuilder task) const {
  task.contributes(stableDt_, Min).withoutDt();
  readsFaces(task, New, state_.velocity);
  if (params_.densityVaries) task.reads(New, state_.density);
  task.runs(stableFlowDt(params_, state_, stableDt_));
}

std::vector<StepProgram> Lowmach::stepPrograms() const {
  StepProgram program("step");
  for (const Stage& stage : stages_) {
    LinearSystem system = system_;
    system.begin = stage.flow.generation;
    program.run("lowmach.predict_" + stage.number);
    if (params_.isClosed) program.run("lowmach.balance_" + stage.number);
    program.solve("lowmach.solve", system);
    program.run("lowmach.correct_" + stage.number);
  }
  return {program};
}

void Lowmach::declareDiagnostics(StepPlan& plan) const {
  TaskBuilder task = plan.task("Lowmach::totals");
  readsFaces(task, Old, state_.velocity);
  task.contributes(totals_.kineticEnergy, Sum)
      .contributes(totals_.divergence, Max)
      .contributes(totals_.speed, Max);
  forEachAxis(state_.velocity, [&](int axis, auto) {
    task.contributes(totals_.momentum[static_cast<std::size_t>(axis)], Sum);
  });
  if (params_.densityVaries) {
    task.reads(Old, state_.density, faceHalo(1))
        .reads(Old, params_.expansion)
        .contributes(totals_.mass, Sum)
        .contributes(totals_.leastDensity, Min)
        .contributes(totals_.largestDensity, Max);
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!state_.carried[n].isThere()) continue;
    task.reads(Old, state_.carried[n].value)
        .contributes(totals_.carried[n], Sum)
        .contributes(totals_.least[n], Min)
        .contributes(totals_.largest[n], Max);
  }
  task.runs(totalsOfFlow(params_, state_, totals_));
  errors_.declareTasks(plan);
}

std::vector<Diagnostic> Lowmach::diagnostics() const {
  std::vector<Diagnostic> columns;
  const auto add = [&](const std::string& name, ReductionLabel reduction) {
    columns.push_back({"lowmach." + name, reduction, {}});
  };
  add("kinetic_energy", totals_.kineticEnergy);
  add("divergence", totals_.divergence);
  add("max_velocity", totals_.speed);
  forEachAxis(state_.velocity, [&](int axis, auto) {
    add(withAxis("momentum", axis), totals_.momentum[static_cast<std::size_t>(axis)]);
  });
  if (params_.densityVaries) {
    add("mass", totals_.mass);
    add("min_density", totals_.leastDensity);
    add("max_density", totals_.largestDensity);
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!state_.carried[n].isThere()) continue;
    const std::string name = kCarriedNames[n];
    add(name, totals_.carried[n]);
    add("min_" + name, totals_.least[n]);
    add("max_" + name, totals_.largest[n]);
  }
  for (Diagnostic& column : errors_.diagnostics()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace tessera
