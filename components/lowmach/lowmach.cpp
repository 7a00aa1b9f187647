#include "components/lowmach/lowmach.hpp"

#include <sstream>

#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

std::string withAxis(const char* name, int axis) { return std::string(name) + "_" + "xyz"[axis]; }

const char* nameOf(StateNumber number) {
  return number == StateNumber::Temperature    ? "temperature"
         : number == StateNumber::HeatCapacity ? "heat_capacity"
                                               : "absorption";
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
  settings_ = readFlowSettings(values, setup.geometry, setup.labels);
  params_ = settings_.params;
  for (const Expression& one : settings_.composed) setup.composed.push_back(one);
  stableDt_ = setup.stableDt;
  configureStages(setup);
  configurePressure(setup);
  configureModels(setup);
  levels_ = FlowLevels(setup, params_, eddies_, settings_);
  for (const Stage& stage : stages_) levels_.prolong(setup.labels, stage.flow.to);
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
    const std::string& name = settings_.carried[n].name;
    const std::string unit = n == kMixture ? "1" : name == "enthalpy" ? "energy/mass" : "temperature";
    carried.value = labels.variable<double, Cell>(prefix + name, unit);
    labels.setBoundary(carried.value, boundaries.carried[n]);
    if (isStage) labels.approximates(carried.value, state_.carried[n].value, part);
    if (!settings_.carried[n].source.isThere()) continue;
    carried.source =
        labels.variable<double, Cell>((isStage ? prefix : "lowmach.") + name + "_source", "1/time");
  }
  if (settings_.mass.isThere())
    state.massSource = labels.variable<double, Cell>((isStage ? prefix : "lowmach.") + "mass_source",
                                                     "mass/(length^3 time)");
  return state;
}

void Lowmach::configureStages(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  state_ = makeState(setup, "", 1.0);
  const std::vector<StageParts>& parts = settings_.stages;
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
  if (params_.hasLightness()) {
    params_.lightness = flowFaces(labels, geometry, "lowmach.lightness", "length^3/mass");
    system_.faces = FaceCoefficients{params_.lightness.x, params_.lightness.y, params_.lightness.z};
  }
  system_.addsUpToNothing = settings_.boundaries.isClosed();
  if (!params_.densityVaries) return;
  params_.flux = flowFaces(labels, geometry, "lowmach.flux", "mass/(length^2 time)");
  forEachAxis(params_.flux,
              [&](int, auto label) { labels.setBoundary(label, settings_.boundaries.continued); });
  params_.expansion = labels.variable<double, Cell>("lowmach.expansion", "1/time");
  if (params_.isClosed) params_.excess = labels.reduction("lowmach.excess");
}

/// The state relation, eddies and solid cells.
void Lowmach::configureModels(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  const auto continued = [&](auto label) { labels.setBoundary(label, settings_.boundaries.continued); };
  if (params_.state == StateKind::Table)
    params_.table = labels.table("lowmach.state", std::move(settings_.state.table));
  const StateColumns& has = settings_.state.has;
  const auto addNumber = [&](bool isThere, StateNumber number, const char* name, const char* unit) {
    if (isThere) stateNumbers_.emplace_back(number, labels.variable<double, Cell>(name, unit));
  };
  addNumber(has.temperature, StateNumber::Temperature, "temperature", "temperature");
  addNumber(has.heatCapacity, StateNumber::HeatCapacity, "lowmach.heat_capacity",
            "energy/(mass temperature)");
  addNumber(has.absorption, StateNumber::Absorption, "lowmach.absorption", "1/length");
  SolidParams& solids = params_.solids;
  if (solids.areThere) {
    solids.fluid = labels.variable<double, Cell>("lowmach.fluid", "1");
    solids.open = flowFaces(labels, setup.geometry, "lowmach.open", "1");
    continued(solids.fluid);
    forEachAxis(solids.open, [&](int, auto label) { continued(label); });
    if (params_.isClosed) solids.cells = labels.reduction("lowmach.fluid_cells");
  }
  EddyParams& eddies = params_.eddies;
  if (!eddies.isThere()) return;
  eddies.viscosity = labels.variable<double, Cell>("lowmach.eddy_viscosity", "mass/(length time)");
  continued(eddies.viscosity);
  if (eddies.model != Turbulence::Dynamic) return;
  eddies_.velocity = labels.components<double, Cell>("lowmach.centre_velocity", 3, "length/time");
  eddies_.strain = labels.components<double, Cell>("lowmach.strain", 6, "1/time");
  eddies_.germano = labels.components<double, Cell>("lowmach.germano", 2);
  continued(eddies_.velocity);
  continued(eddies_.strain);
  eddies.product = labels.reduction("lowmach.germano_product");
  eddies.square = labels.reduction("lowmach.germano_square");
}

void Lowmach::configureColumns(ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  const auto named = [&](const std::string& what) { return labels.reduction("lowmach." + what); };
  const auto rangeOf = [&](const std::string& name, Label<double, Cell> label) {
    unitOfRange_[name] = labels.info(label.id).unit;
    return FlowRange{name, label, named("min_" + name), named("max_" + name)};
  };
  errors_ = ErrorColumns("Lowmach", setup.geometry);
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
    totals_.density = rangeOf("density", state_.density);
  }
  for (const auto& [number, label] : stateNumbers_) totals_.ranges.push_back(rangeOf(nameOf(number), label));
  if (params_.eddies.isThere()) totals_.ranges.push_back(rangeOf("eddy_viscosity", params_.eddies.viscosity));
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!settings_.carried[n].isThere) continue;
    const std::string& name = settings_.carried[n].name;
    if (settings_.carried[n].exact)
      errors_.add(labels, "lowmach." + name, state_.carried[n].value, *settings_.carried[n].exact);
    totals_.carried[n] = named(name);
    totals_.rangeOfCarried[n] = rangeOf(name, state_.carried[n].value);
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
  if (params_.densityVaries) declareNoughts(plan.task("Lowmach::noExpansion"), params_.expansion);
  declareStateNumbers(plan, "");
  if (params_.solids.areThere) declareInitialSolids(plan);
  levels_.declareInitial(plan, state_);
  if (params_.eddies.isThere()) declareViscosity(plan.task("Lowmach::initialEddies"), New);
  declareStableDt(plan.task("Lowmach::stableDt"));
}

void Lowmach::declareInitialCarried(StepPlan& plan) const {
  const auto fills = [&](const std::string& name, Label<double, Cell> label, const Expression& f) {
    plan.task(name).writes(label).runs<Cpu>(
        [label, f](const auto& task) { fill(task, label, f, task.time()); });
  };
  const auto source = [&](const std::string& name, Label<double, Cell> label, const SourceSettings& what) {
    if (label.id < 0) return;
    fills("Lowmach::initialSource_" + name, label, what.expression.value_or(Expression()));
    if (what.added.empty()) return;
    declareAddedSources(plan.task("Lowmach::addInitialSources_" + name), label, what.added, New);
  };
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    const CarriedLabels& labels = state_.carried[n];
    if (!labels.isThere()) continue;
    fills("Lowmach::initial_" + settings_.carried[n].name, labels.value, settings_.carried[n].initial);
    source(settings_.carried[n].name, labels.source, settings_.carried[n].source);
  }
  source("mass", state_.massSource, settings_.mass);
}

/// What follows from what is carried, of New: the density at the start, and what others read.
void Lowmach::declareStateNumbers(StepPlan& plan, const std::string& in) const {
  const auto declare = [&](const std::string& name, StateNumber number, Label<double, Cell> label) {
    TaskBuilder task = plan.task("Lowmach::" + name);
    if (!in.empty()) task.in(in);
    task.writes(label).withoutDt();
    for (const CarriedLabels& carried : state_.carried)
      if (carried.isThere()) task.reads(New, carried.value);
    if (params_.state == StateKind::Table) task.reads(params_.table);
    task.runs(numberOfState(params_, state_, number, label));
  };
  if (in.empty() && params_.densityVaries) declare("initialDensity", StateNumber::Density, state_.density);
  for (const auto& [number, label] : stateNumbers_) {
    declare(std::string("state_") + nameOf(number), number, label);
  }
}

void Lowmach::declareInitialSolids(StepPlan& plan) const {
  const SolidParams& solids = params_.solids;
  plan.task("Lowmach::fluid")
      .writes(solids.fluid)
      .withoutDt()
      .runs<Cpu>(
          [label = solids.fluid, f = *settings_.fluid](const auto& task) { fill(task, label, f, 0.0); });
  TaskBuilder open = plan.task("Lowmach::openFaces").withoutDt();
  open.reads(New, solids.fluid, faceHalo(1), from("Lowmach::fluid"));
  writesFaces(open, solids.open);
  open.runs(openFacesOfSolids(params_));
  levels_.declareSolids(plan, "Lowmach::openFaces", "Lowmach::fluid");
  TaskBuilder stop = plan.task("Lowmach::stop").withoutDt();
  // Faces under finer ones get their means later, as what stops here does.
  forEachAxis(solids.open, [&](int, auto label) { stop.reads(New, label, from("Lowmach::openFaces")); });
  forEachAxis(state_.velocity,
              [&](int axis, auto label) { stop.modifies(label, from(withAxis("Lowmach::initial", axis))); });
  stop.runs(stopAtSolids(params_, state_.velocity));
}

/// Reads what the strain of a generation follows from.
void Lowmach::readsStrain(TaskBuilder& task, Generation generation) const {
  readsFaces(task, generation, state_.velocity, aroundFaces(1));
  if (params_.solids.areThere) readsFaces(task, generation, params_.solids.open, aroundFaces(1));
}

/// The viscosity of eddies, from the state of a generation.
void Lowmach::declareViscosity(TaskBuilder task, Generation generation) const {
  task.withoutDt().writes(params_.eddies.viscosity);
  readsStrain(task, generation);
  if (params_.densityVaries) task.reads(generation, state_.density);
  if (params_.solids.areThere) task.reads(generation, params_.solids.fluid);
  if (params_.eddies.model == Turbulence::Dynamic && generation == Old)
    task.reads(params_.eddies.product).reads(params_.eddies.square);
  task.runs(viscosityOfEddies(params_, generation, state_));
}

/// The viscosity of eddies of the step, from the velocity at its begin.
void Lowmach::declareEddies(StepPlan& step) const {
  declareViscosity(step.task("Lowmach::eddies").in("lowmach.predict_1"), Old);
  if (params_.eddies.model != Turbulence::Dynamic) return;
  TaskBuilder strain = step.task("Lowmach::strain");
  readsStrain(strain, Old);
  strain.in("lowmach.turbulence")
      .withoutDt()
      .writes(eddies_.velocity)
      .writes(eddies_.strain)
      .runs(strainOfFlow(params_, state_, eddies_));
  TaskBuilder constant = step.task("Lowmach::germano");
  constant.in("lowmach.turbulence")
      .withoutDt()
      .reads(New, eddies_.velocity, halo(1))
      .reads(New, eddies_.strain, halo(1))
      .writes(eddies_.germano)
      .contributes(params_.eddies.product, Sum)
      .contributes(params_.eddies.square, Sum);
  if (params_.solids.areThere) constant.reads(Old, params_.solids.fluid);
  constant.runs(dynamicConstant(params_, eddies_));
}

void Lowmach::declareStep(StepPlan& step) const {
  if (params_.eddies.isThere()) declareEddies(step);
  for (const Stage& stage : stages_) {
    declarePrediction(step, stage);
    declareCorrection(step, stage);
  }
}

void Lowmach::declarePrediction(StepPlan& step, const Stage& stage) const {
  if (params_.hasForce) declareForce(step, stage);
  if (params_.densityVaries) declareDensity(step, stage);
  if (params_.hasLightness()) declareLightness(step, stage);
  if (stage.flow.to.massSource.id >= 0)
    declareSource(step, stage, "mass", stage.flow.to.massSource, settings_.mass);
  for (std::size_t n = 0; n < kFlowScalars; ++n)
    if (settings_.carried[n].isThere) declareCarried(step, stage, n);
  declareMomentum(step, stage);
  declareDivergence(step, stage);
}

/// Mass through faces, and the density that it leaves.
void Lowmach::declareDensity(StepPlan& step, const Stage& stage) const {
  const FlowStage& flow = stage.flow;
  TaskBuilder flux = step.task("Lowmach::flux" + stage.number);
  flux.in(levels_.carryPlan(stage.number)).withoutDt();
  readsFaces(flux, flow.generation, flow.from.velocity);
  for (const CarriedLabels& carried : flow.from.carried)
    if (carried.isThere()) flux.reads(flow.generation, carried.value, faceHalo(2));
  if (params_.state == StateKind::Table) flux.reads(params_.table);
  writesFaces(flux, params_.flux);
  flux.runs(fluxOfMass(params_, flow));
  levels_.declareFlux(step, stage.number);

  TaskBuilder density = step.task("Lowmach::density" + stage.number);
  density.in(levels_.carryPlan(stage.number)).reads(Old, state_.density).writes(flow.to.density);
  if (flow.generation != Old) density.reads(New, flow.from.density);
  readsFaces(density, New, params_.flux);
  if (flow.from.massSource.id >= 0) {
    density.reads(flow.generation, flow.from.massSource);
    if (params_.solids.areThere) density.reads(Old, params_.solids.fluid);
  }
  density.runs(advanceDensity(params_, state_, flow));
  levels_.declareDensity(step, flow, stage.number);
}

/// 1 over the density on faces that are open.
void Lowmach::declareLightness(StepPlan& step, const Stage& stage) const {
  TaskBuilder lightness = step.task("Lowmach::lightness" + stage.number);
  lightness.in("lowmach.predict_" + stage.number).withoutDt();
  if (params_.densityVaries) lightness.reads(New, stage.flow.to.density, faceHalo(1));
  if (params_.solids.areThere) readsFaces(lightness, Old, params_.solids.open);
  writesFaces(lightness, params_.lightness);
  lightness.runs(lightnessOfFaces(params_, stage.flow));
}

/// A source at the end of a stage, with those of other components as they were at the begin of the step.
void Lowmach::declareSource(StepPlan& step, const Stage& stage, const std::string& name,
                            Label<double, Cell> label, const SourceSettings& source) const {
  const std::string plan = levels_.carryPlan(stage.number);
  step.task("Lowmach::source_" + name + stage.number)
      .in(plan)
      .writes(label)
      .runs<Cpu>([label, f = source.expression.value_or(Expression()), part = stage.end](const auto& task) {
        fill(task, label, f, task.time() + part * task.dt());
      });
  if (source.added.empty()) return;
  declareAddedSources(step.task("Lowmach::addSources_" + name + stage.number).in(plan), label, source.added,
                      Old);
}

void Lowmach::declareCarried(StepPlan& step, const Stage& stage, std::size_t which) const {
  const FlowStage& flow = stage.flow;
  const std::string plan = levels_.carryPlan(stage.number);
  const std::string name = settings_.carried[which].name + stage.number;
  const CarriedLabels& from = flow.from.carried[which];
  const CarriedLabels& to = flow.to.carried[which];
  if (to.source.id >= 0)
    declareSource(step, stage, settings_.carried[which].name, to.source, settings_.carried[which].source);
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
  if (flow.from.massSource.id >= 0) carry.reads(flow.generation, flow.from.massSource);
  readsModels(carry, flow.generation, faceHalo(1));
  carry.runs(advanceCarried(params_, state_, flow, which));
  levels_.declareCarried(step, flow, which, stage.number, "Lowmach::carry_" + name);
}

/// What diffusion asks for besides what spreads.
void Lowmach::readsModels(TaskBuilder& task, Generation eddies, const HaloClause& around) const {
  if (params_.eddies.isThere()) task.reads(eddies, params_.eddies.viscosity, around);
  if (!params_.solids.areThere) return;
  task.reads(Old, params_.solids.fluid);
  readsFaces(task, Old, params_.solids.open);
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
  if (params_.eddies.isThere()) predict.reads(New, params_.eddies.viscosity, halo(1));
  if (params_.solids.areThere) readsFaces(predict, Old, params_.solids.open, aroundFaces(1));
  writesFaces(predict, flow.to.velocity);
  predict.runs(predictVelocity(params_, state_, flow, stage.entering));
  levels_.declarePredicted(step, flow, stage.number);
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
    if (flow.to.massSource.id >= 0) expansion.reads(New, flow.to.massSource);
    if (params_.state == StateKind::Table) expansion.reads(params_.table);
    readsModels(expansion, New, faceHalo(1));
    expansion.runs(expansionOfFlow(params_, flow));
    levels_.declareExpansion(step, flow, stage.number, "Lowmach::expansion" + stage.number);
  }
  TaskBuilder divergence = step.task("Lowmach::rightHandSide" + stage.number);
  divergence.in(plan).writes(system_.rightHandSide);
  if (params_.densityVaries) divergence.reads(New, params_.expansion);
  readsFaces(divergence, New, flow.to.velocity);
  const bool countsCells = params_.isClosed && params_.solids.areThere;
  if (params_.isClosed) divergence.contributes(params_.excess, Sum);
  if (countsCells) divergence.reads(Old, params_.solids.fluid).contributes(params_.solids.cells, Sum);
  divergence.runs(divergenceToRemove(params_, flow, system_.rightHandSide));
  if (!params_.isClosed) return;
  TaskBuilder keep = step.task("Lowmach::keepVolume" + stage.number);
  if (countsCells) keep.reads(Old, params_.solids.fluid).reads(params_.solids.cells);
  keep.in("lowmach.balance_" + stage.number)
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
  const std::string name = "Lowmach::project" + stage.number;
  const auto declare = [&](TaskBuilder project) {
    project.in(plan).reads(New, system_.solution, halo(1));
    if (params_.hasLightness()) readsFaces(project, New, params_.lightness);
    forEachAxis(stage.flow.to.velocity, [&](int, auto label) { project.modifies(label); });
    return project.runs(projectVelocity(params_, stage.flow, system_.solution));
  };
  TaskBuilder coarsest = declare(step.task(name));
  if (levels_.areSeveral()) {
    const std::string finer = "Lowmach::projectFiner" + stage.number;
    coarsest.on(0);
    TaskBuilder others = declare(step.task(finer));
    others.on(allButCoarsest()).reads(New, system_.solution, fromCoarser(1));
    levels_.readsFluidAround(others);
    levels_.declareProjected(step, stage.flow, plan, name, finer);
  }
  if (!isLast(stage)) return;
  declareStateNumbers(step, plan);
  declareStableDt(step.task("Lowmach::stableDt").in(plan));
}

void Lowmach::declareStableDt(TaskBuilder task) const {
  task.contributes(stableDt_, Min).withoutDt();
  readsFaces(task, New, state_.velocity);
  if (params_.densityVaries) task.reads(New, state_.density);
  if (params_.eddies.isThere()) task.reads(New, params_.eddies.viscosity);
  task.runs(stableFlowDt(params_, state_, stableDt_));
}

std::vector<StepProgram> Lowmach::stepPrograms() const {
  StepProgram program("step");
  if (params_.eddies.model == Turbulence::Dynamic) program.run("lowmach.turbulence");
  for (const Stage& stage : stages_) {
    LinearSystem system = system_;
    system.begin = stage.flow.generation;
    if (levels_.carriesApart()) program.run(levels_.carryPlan(stage.number));
    program.run("lowmach.predict_" + stage.number);
    if (params_.isClosed) program.run("lowmach.balance_" + stage.number);
    program.solve("lowmach.solve", system);
    program.run("lowmach.correct_" + stage.number);
  }
  return {program};
}

void Lowmach::declareDiagnostics(StepPlan& plan) const {
  TaskBuilder task = plan.task("Lowmach::totals");
  const auto contributes = [&](const FlowRange& one) {
    task.contributes(one.least, Min).contributes(one.largest, Max);
  };
  readsFaces(task, Old, state_.velocity);
  task.contributes(totals_.kineticEnergy, Sum)
      .contributes(totals_.divergence, Max)
      .contributes(totals_.speed, Max);
  forEachAxis(state_.velocity, [&](int axis, auto) {
    task.contributes(totals_.momentum[static_cast<std::size_t>(axis)], Sum);
  });
  if (params_.densityVaries) {
    task.reads(Old, state_.density).reads(Old, params_.expansion).contributes(totals_.mass, Sum);
    contributes(totals_.density);
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!state_.carried[n].isThere()) continue;
    task.reads(Old, state_.carried[n].value).contributes(totals_.carried[n], Sum);
    contributes(totals_.rangeOfCarried[n]);
  }
  for (const FlowRange& one : totals_.ranges) {
    task.reads(Old, one.label);
    contributes(one);
  }
  task.runs(totalsOfFlow(params_, state_, totals_));
  errors_.declareTasks(plan);
}

std::vector<Diagnostic> Lowmach::diagnostics() const {
  std::vector<Diagnostic> columns;
  const auto add = [&](const std::string& name, ReductionLabel reduction, const std::string& unit) {
    columns.push_back({.name = "lowmach." + name, .reduction = reduction, .unit = unit});
  };
  const auto addRange = [&](const FlowRange& one) {
    add("min_" + one.name, one.least, unitOfRange_.at(one.name));
    add("max_" + one.name, one.largest, unitOfRange_.at(one.name));
  };
  add("kinetic_energy", totals_.kineticEnergy, "mass * length^2/time^2");
  add("divergence", totals_.divergence, "1/time");
  add("max_velocity", totals_.speed, "length/time");
  forEachAxis(state_.velocity, [&](int axis, auto) {
    add(withAxis("momentum", axis), totals_.momentum[static_cast<std::size_t>(axis)], "mass * length/time");
  });
  if (params_.densityVaries) {
    add("mass", totals_.mass, "mass");
    addRange(totals_.density);
  }
  for (std::size_t n = 0; n < kFlowScalars; ++n) {
    if (!state_.carried[n].isThere()) continue;
    add(settings_.carried[n].name, totals_.carried[n],
        unitOfRange_.at(settings_.carried[n].name) + " * mass");
    addRange(totals_.rangeOfCarried[n]);
  }
  for (const FlowRange& one : totals_.ranges) addRange(one);
  for (Diagnostic& column : errors_.diagnostics()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace tessera
