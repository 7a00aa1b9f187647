#include "components/lowmach/lowmach.hpp"

#include <sstream>

#include "components/expression_fill.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {
namespace {

constexpr std::array kAxisLetters{"x", "y", "z"};

std::string ofAxis(const char* key, int axis) {
  return std::string(key) + "." + kAxisLetters[static_cast<std::size_t>(axis)];
}
std::string planOf(const char* what, std::size_t stage) {
  return std::string("lowmach.") + what + "_" + std::to_string(stage + 1);
}

/// What the stages of a method take of Old, and the time of each, as parts.
struct StageParts {
  double ofOld;
  double at;
};
std::vector<StageParts> stagesOf(const std::string& method) {
  if (method == "rk3") return {{0.0, 1.0}, {0.75, 0.5}, {1.0 / 3.0, 1.0}};
  return {{0.0, 1.0}, {0.5, 1.0}};
}

}  // namespace

void Lowmach::declareParameters(ParameterTable& table) const {
  table.real("density").doc("density of the fluid").unit("mass/length^3").above(0).defaultsTo(1);
  table.real("viscosity").doc("dynamic viscosity").unit("mass/(length time)").atLeast(0).defaultsTo(0);
  table.realVector("gravity", 3).doc("acceleration").unit("length/time^2").defaultsTo({0.0, 0.0, 0.0});
  table.choice("stages", {"rk2", "rk3"})
      .doc("strong-stability-preserving Runge-Kutta method of two or three stages, each with a projection")
      .defaultsTo("rk2");
  table.choice("convection", {"central", "limited"})
      .doc("how momentum is carried: by means of two faces, or upwind with van Leer's slopes")
      .defaultsTo("central");
  for (int axis = 0; axis < kAxes; ++axis) {
    table.expression(ofAxis("initial.velocity", axis), {"x", "y", "z"})
        .doc("velocity along this axis at the start")
        .unit("length/time")
        .defaultsTo(0);
    table.expression(ofAxis("force", axis))
        .doc("force along this axis on a unit of volume")
        .unit("mass/(length time)^2")
        .defaultsTo(0);
    table.expression(ofAxis("exact.velocity", axis))
        .doc("the exact velocity along this axis; where given, the history has the norms of the error")
        .mayChangeOnRestart()
        .optional();
  }
  table.expression("exact.pressure").doc("the exact pressure, as above").mayChangeOnRestart().optional();
  declareFlowBoundaries(table);
}

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
  configureMethod(values, setup);
  configureStages(values, setup);
  errors_ = FlowErrors(setup.geometry);
  forEachAxis(state_.velocity, [&](int axis, auto label) {
    const std::string key = ofAxis("exact.velocity", axis);
    if (values.has(key)) {
      errors_.add(setup.labels,
                  std::string("lowmach.velocity_") + kAxisLetters[static_cast<std::size_t>(axis)], label,
                  values.expression(key));
    }
    totals_.momentum[static_cast<std::size_t>(axis)] = setup.labels.reduction(
        std::string("lowmach.momentum_") + kAxisLetters[static_cast<std::size_t>(axis)]);
  });
  if (values.has("exact.pressure"))
    errors_.add(setup.labels, "lowmach.pressure", system_.solution, values.expression("exact.pressure"));
  totals_.kineticEnergy = setup.labels.reduction("lowmach.kinetic_energy");
  totals_.divergence = setup.labels.reduction("lowmach.divergence");
  totals_.speed = setup.labels.reduction("lowmach.max_velocity");
}

void Lowmach::configureMethod(const ParameterValues& values, const ComponentSetup& setup) {
  boundaries_ = readFlowBoundaries(values, setup.geometry);
  params_.sides = boundaries_.kinds;
  params_.density = values.real("density");
  params_.viscosity = values.real("viscosity");
  params_.gravity = values.vector3("gravity");
  params_.limited = values.choice("convection") == "limited";
  stableDt_ = setup.stableDt;
  for (int d = 0; d < kAxes; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    params_.active[axis] = setup.geometry.active(d);
    initial_[axis] = values.expression(ofAxis("initial.velocity", d));
    force_[axis] = values.expression(ofAxis("force", d));
    params_.hasForce = params_.hasForce || values.isGiven(ofAxis("force", d));
  }
}

FlowState Lowmach::makeState(ComponentSetup& setup, const std::string& name) {
  FlowState state;
  state.velocity = flowFaces(setup.labels, setup.geometry, name, "length/time");
  forEachAxis(state.velocity, [&](int axis, auto label) {
    setup.labels.setBoundary(label, boundaries_.velocity[static_cast<std::size_t>(axis)]);
  });
  return state;
}

void Lowmach::configureStages(const ParameterValues& values, ComponentSetup& setup) {
  LabelTable& labels = setup.labels;
  state_ = makeState(setup, "velocity");
  const std::vector<StageParts> parts = stagesOf(values.choice("stages"));
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const bool isLast = n + 1 == parts.size();
    FlowStage stage;
    stage.generation = n == 0 ? Old : New;
    stage.from = n == 0 ? state_ : stages_.back().to;
    stage.ofOld = parts[n].ofOld;
    stage.ofStage = 1.0 - parts[n].ofOld;
    times_.push_back(n == 0 ? 0.0 : parts[n - 1].at);
    stage.to = state_;
    if (!isLast) {
      stage.to = makeState(setup, "lowmach.stage_" + std::to_string(n + 1));
      if (stage.to.velocity.x.id >= 0)
        labels.approximates(stage.to.velocity.x, state_.velocity.x, parts[n].at);
      if (stage.to.velocity.y.id >= 0)
        labels.approximates(stage.to.velocity.y, state_.velocity.y, parts[n].at);
      if (stage.to.velocity.z.id >= 0)
        labels.approximates(stage.to.velocity.z, state_.velocity.z, parts[n].at);
    }
    stages_.push_back(stage);
    entering_.emplace_back();
    if (!boundaries_.hasGiven()) continue;
    entering_[n] = labels.variable<double, Cell>("lowmach.entering_" + std::to_string(n + 1), "length/time");
    labels.setBoundary(entering_[n], boundaries_.entering);
    if (n > 0) labels.approximates(entering_[n], entering_[0], parts[n].at);
  }
  system_.solution = labels.variable<double, Cell>("pressure", "mass/(length time^2)");
  system_.rightHandSide = labels.variable<double, Cell>("lowmach.right_hand_side", "1/time^2");
  system_.coefficient = 1.0 / params_.density;
  labels.setBoundary(system_.solution, boundaries_.pressure);
  if (params_.hasForce)
    params_.force = flowFaces(labels, setup.geometry, "lowmach.force", "mass/(length time)^2");
}

void Lowmach::declareInitial(StepPlan& plan) const {
  forEachAxis(state_.velocity, [&](int axis, auto label) {
    plan.task(std::string("Lowmach::initial") + kAxisLetters[static_cast<std::size_t>(axis)])
        .writes(label)
        .template runs<Cpu>([label, f = initial_[static_cast<std::size_t>(axis)]](const auto& task) {
          fill(task, label, f, task.time());
        });
  });
  plan.task("Lowmach::noPressure")
      .writes(system_.solution)
      .withoutDt()
      .runs<Cpu>([p = system_.solution](const auto& task) {
        const auto zero = task.write(p);
        forEach(task.exec(), "Lowmach::noPressure", task.interior(), [=](Index x) { zero(x) = 0.0; });
      });
  declareStableDt(plan.task("Lowmach::stableDt"));
}

void Lowmach::declareStep(StepPlan& step) const {
  for (std::size_t n = 0; n < stages_.size(); ++n) {
    declarePrediction(step, n);
    declareCorrection(step, n);
  }
}

void Lowmach::declarePrediction(StepPlan& step, std::size_t n) const {
  const std::string plan = planOf("predict", n);
  const FlowStage& stage = stages_[n];
  const std::string number = std::to_string(n + 1);
  if (params_.hasForce) declareForce(step, n, plan);
  if (boundaries_.hasGiven()) {
    step.task("Lowmach::enter" + number)
        .in(plan)
        .writes(entering_[n])
        .withoutDt()
        .runs<Cpu>([label = entering_[n]](const auto& task) {
          const auto zero = task.write(label);
          forEach(task.exec(), "Lowmach::enter", task.interior(), [=](Index x) { zero(x) = 0.0; });
        });
  }
  TaskBuilder predict = step.task("Lowmach::predict" + number);
  predict.in(plan);
  readsFaces(predict, stage.generation, stage.from.velocity, aroundFaces(params_.limited ? 2 : 1));
  if (stage.generation != Old) readsFaces(predict, Old, state_.velocity);
  if (params_.hasForce) readsFaces(predict, New, params_.force);
  if (boundaries_.hasGiven()) predict.reads(New, entering_[n], halo(1));
  writesFaces(predict, stage.to.velocity);
  predict.runs(predictVelocity(params_, state_, stage, entering_[n]));

  TaskBuilder divergence = step.task("Lowmach::rightHandSide" + number);
  divergence.in(plan).writes(system_.rightHandSide);
  readsFaces(divergence, New, stage.to.velocity);
  divergence.runs(divergenceToRemove(params_, stage, system_.rightHandSide));
}

void Lowmach::declareForce(StepPlan& step, std::size_t n, const std::string& plan) const {
  forEachAxis(params_.force, [&](int axis, auto label) {
    step.task("Lowmach::force" + std::to_string(n + 1) + kAxisLetters[static_cast<std::size_t>(axis)])
        .in(plan)
        .writes(label)
        .template runs<Cpu>([label, f = force_[static_cast<std::size_t>(axis)], part = times_[n]](
                                const auto& task) { fill(task, label, f, task.time() + part * task.dt()); });
  });
}

void Lowmach::declareCorrection(StepPlan& step, std::size_t n) const {
  const std::string plan = planOf("correct", n);
  const FlowStage& stage = stages_[n];
  TaskBuilder project = step.task("Lowmach::project" + std::to_string(n + 1));
  project.in(plan).reads(New, system_.solution, halo(1));
  forEachAxis(stage.to.velocity, [&](int, auto label) { project.modifies(label); });
  project.runs(projectVelocity(params_, stage, system_.solution));
  if (n + 1 == stages_.size()) declareStableDt(step.task("Lowmach::stableDt").in(plan));
}

void Lowmach::declareStableDt(TaskBuilder task) const {
  task.contributes(stableDt_, Min).withoutDt();
  readsFaces(task, New, state_.velocity);
  task.runs(stableFlowDt(params_, state_, stableDt_));
}

std::vector<StepProgram> Lowmach::stepPrograms() const {
  StepProgram program("step");
  for (std::size_t n = 0; n < stages_.size(); ++n) {
    program.run(planOf("predict", n));
    LinearSystem system = system_;
    system.begin = n == 0 ? Old : New;
    program.solve("lowmach.solve", system);
    program.run(planOf("correct", n));
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
  task.runs(totalsOfFlow(params_, state_, totals_));
  errors_.declareTasks(plan);
}

std::vector<Diagnostic> Lowmach::diagnostics() const {
  std::vector<Diagnostic> columns{{"lowmach.kinetic_energy", totals_.kineticEnergy, {}},
                                  {"lowmach.divergence", totals_.divergence, {}},
                                  {"lowmach.max_velocity", totals_.speed, {}}};
  forEachAxis(state_.velocity, [&](int axis, auto) {
    columns.push_back({std::string("lowmach.momentum_") + kAxisLetters[static_cast<std::size_t>(axis)],
                       totals_.momentum[static_cast<std::size_t>(axis)],
                       {}});
  });
  for (Diagnostic& column : errors_.diagnostics()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace tessera
