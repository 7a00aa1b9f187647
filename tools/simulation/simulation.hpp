#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/archive/checkpoint_content.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/cores.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/send_limit.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/virtual_schedule.hpp"
#include "taskgraph/transfer/migration_plan.hpp"
#include "tools/simulation/balance/load_balance.hpp"
#include "tools/simulation/mesh/mesh_state.hpp"
#include "tools/simulation/model.hpp"
#include "tools/simulation/program/solve_book.hpp"
#include "tools/simulation/regrid/regridding.hpp"
#include "tools/simulation/step_failed.hpp"
#include "tools/simulation/time_control.hpp"

namespace tessera {

/// Who runs the tasks of a rank.
enum class ExecutorKind {
  Threads,  ///< several workers, the product
  InOrder,  ///< one, in a fixed order, for debugging
  Virtual,  ///< one, in an order that a seed gives
};

/// Where halos of Old are kept that one task reads.
enum class HaloKeeping {
  Auto,     ///< in scratch where what a rank keeps is more than its share of the caches, else in place
  InPlace,  ///< around each patch, filled before the task runs
  Scratch,  ///< nowhere: the task's worker gathers patch and halo into a window that it uses again
};

/// How to compute; changes no bit of the result.
struct SimulationOptions {
  int threads = 1;
  ExecutorKind executor = ExecutorKind::Threads;
  bool checked = false;                 ///< compare each access with its declaration; slow
  bool findNonFinite = true;            ///< look for NaN and infinity in what tasks write
  BufferReuse reuse = BufferReuse::On;  ///< whether variables of a step may share memory
  HaloKeeping halos = HaloKeeping::Auto;
  CacheSizes caches{};                   ///< this rank's share; not known: halos are kept in place
  ExecutorOptions execution{};           ///< of the other two
  SendLimit sends{};                     ///< messages and bytes of a rank on their way
  VirtualSchedule* schedule = nullptr;   ///< of ExecutorKind::Virtual
  KokkosAnnotations* regions = nullptr;  ///< for profilers, see RunnerOptions; outlives the simulation
  NvtxAnnotations* nvtx = nullptr;       ///< likewise
  Trace* trace = nullptr;                ///< records what runs when; outlives the simulation
  DeviceOptions devices{};               ///< for the tasks that can run there
  bool connectLater = false;             ///< the caller calls `Simulation::connect` before anything is run
  /// May throw where a mesh cannot be had that the run is to go over to: called before its graphs are made.
  std::function<void(const Hierarchy&)> beforeMesh{};
  /// May throw where the memory that the graphs plan is not there: called before it is allocated.
  std::function<void(const CompiledGraphs&)> beforeMemory{};
  GivenSeconds secondsOfPatch{};  ///< of a step, for the load balance, in place of those measured
};

class Simulation;

/// How often a plan was run on this rank, and for how long. Where devices are in use, that is the time in
/// which the host has handed the plan over: they work on.
struct PlanTime {
  std::string plan;
  std::int64_t runs = 0;
  double seconds = 0.0;
};

/// A step that a component has refused, and that is taken again.
struct StepRetry {
  std::int64_t step = 0;  ///< number of the step, as people count
  double time = 0.0;      ///< that it begins at
  std::string cause;
  double refusedDt = 0.0;
  double dt = 0.0;  ///< that it is tried with next
};

/// Follows a run, and may end it: writes what a run leaves, or looks for stop requests. All ranks have one,
/// and each call comes on all ranks, between steps: so collectives are allowed.
class RunListener {
 public:
  virtual ~RunListener() = default;
  /// Numbers that all ranks combine (largest wins) together with the step to come. The same length on every
  /// rank.
  virtual std::vector<double> control() { return {}; }
  /// The first state is there; `restored`: from a checkpoint. True ends the run here.
  virtual bool began(Simulation& /*simulation*/, bool /*restored*/, std::span<const double> /*control*/) {
    return false;
  }
  /// A step was taken, as far as this rank is concerned: the largest stable step, which a reduction brings,
  /// may still be under way (`Simulation::settle`). True ends the run here.
  virtual bool stepped(Simulation& /*simulation*/, std::span<const double> /*control*/) { return false; }
  /// A step is taken again, half as long. In the midst of the step, on all ranks.
  virtual void retaken(const StepRetry& /*retry*/) {}
  /// Something is not as the deck wants it, and the run goes on. As above.
  virtual void warned(const std::string& /*text*/) {}
  /// The mesh follows the solution and has become another one. Before the step; `seconds`: what that took.
  virtual void regridded(Simulation& /*simulation*/, double /*seconds*/) {}
  /// The same patches are other ranks' from now on. Between steps; `seconds`: what that took.
  virtual void rebalanced(Simulation& /*simulation*/, const BalanceLook& /*look*/, double /*seconds*/) {}
  /// The next mesh cannot be had, `cause` says why: the run ends here, in good order.
  virtual void stoppedByMesh(Simulation& /*simulation*/, const std::string& /*cause*/) {}
  /// The run reached its end; not called when the listener ended it.
  virtual void finished(Simulation& /*simulation*/) {}
  /// All ranks found that the run cannot go on; an AgreedError follows.
  virtual void brokenOff(Simulation& /*simulation*/) {}
};

/// The time loop on one rank. Writes no files: that is for the listener.
///
///   Simulation simulation(deck, builtInComponents(), transport, {.threads = 2});
///   simulation.run();
///   simulation.diagnose();   // the columns of the history, for the last state
///
/// One thread calls it; the executor brings its own.
class Simulation {
 public:
  /// Makes model, graphs and memory, on devices as well; with `connectLater` without a word to other ranks,
  /// else `connect` is the last that it does. `deck` has passed `checkDeck`. Throws DeckError.
  Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
             SimulationOptions options)
      : Simulation(deck, registry, transport, std::move(options), nullptr) {}
  /// Continues from a checkpoint: stands on its mesh, whatever patches the deck asks for, and `run` begins
  /// with its state. Throws InputError where the checkpoint is damaged or belongs to another simulation.
  Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
             SimulationOptions options, const CheckpointReader& checkpoint)
      : Simulation(deck, registry, transport, std::move(options), &checkpoint) {}

  /// Makes the messages to other ranks ready. All ranks call it, and wait for one another: where it fails on
  /// one of them, or another one does not come to it, the job has to be ended.
  void connect();

  /// Computes until the deck's end or until the listener has enough. True where the end was reached. Throws
  /// StepFailed on the rank where something went wrong: the others then wait for it, so the caller has to end
  /// the job. Throws AgreedError on all ranks where there is no next step to take.
  bool run(RunListener& listener);
  bool run() {
    RunListener nobody;
    return run(nobody);
  }

  /// Waits for what the last step has left under way: from then on `clock().stableDtKnown()`. Needs no other
  /// rank's call, but all ranks have to take the step.
  void settle();

  /// The numbers of `model().diagnostics()` for the present state; the same on every rank. All ranks call it.
  std::vector<double> diagnose();
  /// The same in two parts, so that steps may be taken while its reductions are under way: `diagnosis` waits
  /// for them, and gives the numbers of the state in which `startDiagnosis` was called last.
  void startDiagnosis();
  std::vector<double> diagnosis();

  const Model& model() const { return model_; }
  /// What a checkpoint has to have in common with this run.
  CheckpointIdentity identity() const;
  /// Stands on another mesh from now on: the same cells on each level, cut into other patches, numbered in
  /// another way or dealt out to other ranks. Changes no bit of what the run computes. Graphs, memory and
  /// messages are made anew, while the old variables are still there; what was learned about placement by
  /// cost is learned again. All ranks call it with the same mesh, between steps: a listener may. Throws
  /// AgreedError on all ranks: before anything has changed where the plans cannot run on the mesh, and at the
  /// end of the run where a rank has no memory for it.
  void adopt(OwnedMesh mesh);

  /// What regrids have come to; nothing where the mesh stays as it is.
  const RegridCounts* regrids() const { return regridding_ ? &regridding_->counts() : nullptr; }
  /// What balancing has come to.
  const BalanceCounts& balance() const { return balance_.counts(); }
  /// Largest share of a rank over the mean one, by cells times steps: of a level, or of all (-1).
  double imbalance(LevelId level = -1) const;
  /// What a checkpoint holds beside the fields. Once the largest stable step is known.
  void save(CheckpointState& state) const;
  /// Cells times steps that this process has computed, all ranks together; each cell counts in each step of
  /// its level.
  double cellSteps() const { return cellSteps_; }

  /// The mesh of the moment, and who owns its patches.
  const OwnedMesh& mesh() const { return state_->mesh; }
  const Hierarchy& hierarchy() const { return *state_->mesh.hierarchy; }
  const CompiledGraphs& graphs() const { return state_->graphs; }
  /// Its layout; its Old values where no devices are in use.
  const DataWarehouse& data() const { return *state_->data; }
  /// With the Old values of these variables: brings them from devices first. Between steps.
  /// Throws StepFailed where a device has found that a task went wrong.
  const DataWarehouse& dataOnHost(std::span<const LabelId> labels) const;
  /// Until the devices have done all that the steps so far ask of them. Between steps. Throws as above.
  void waitForDevices() const;
  /// As the caller and the deck want them used.
  const DeviceOptions& deviceOptions() const { return options_.devices; }
  /// Between steps, where placement is by cost: StepRunner::placeOnHost.
  void placeOnHost(double part) { state_->runner->placeOnHost(part); }
  /// What placement by cost has found so far.
  CostReport costReport() const { return state_->runner->costReport(); }
  /// What the run uses; empty without.
  std::vector<DeviceInfo> devices() const { return state_->runner->devices(); }
  /// What of `DeviceOptions` cannot be had, and why; a line each.
  std::vector<std::string> deviceNotices() const { return state_->runner->notices(); }
  /// What variables take there, and what was moved where that does not fit. Between steps.
  DevicePagingCounts devicePaging() const;
  /// What variables take on each of them; takes time that grows with the patches.
  std::vector<DeviceMemoryUse> deviceMemory() const { return state_->runner->deviceMemory(); }
  const TimeControl& clock() const { return clock_; }
  Transport& transport() const { return transport_; }
  /// Sums since the start of the run, whatever meshes it has stood on.
  StepStatistics statistics() const;
  /// What the own patches of the mesh of the moment have cost since the run stands on it: for a load
  /// balancer. Between steps.
  PatchCosts patchCosts() const { return state_->runner->patchCosts(); }
  /// Seconds of this rank's workers in tasks on the patches of each level since the start of the run,
  /// whatever meshes it has stood on. Between steps.
  std::vector<double> levelSeconds() const;
  /// Of each plan that was run, since the start of the run; in the order of the plans, the same on every
  /// rank.
  std::vector<PlanTime> planTimes() const;
  /// What the linear solves of step programs have come to since the start of the run.
  const SolveBook& solves() const { return solves_; }
  int threads() const { return executor_->threads(); }
  /// Whether steps begin while reductions of the last one are under way.
  bool stepsOverlap() const { return stepsOverlap_; }
  /// How many plans were compiled at the start, and how many since: steps pick a plan, they do not compile,
  /// but another mesh needs all of them anew.
  std::int64_t compiles() const { return compilesAtStart_; }
  std::int64_t compilesSinceStart() const { return compiles_ - compilesAtStart_; }

 private:
  Simulation(const Deck& deck, const ComponentRegistry& registry, Transport& transport,
             SimulationOptions options, const CheckpointReader* checkpoint);
  void restore(const CheckpointReader& checkpoint);
  bool runSteps(RunListener& listener);
  /// The parts of a state, in this order; without a word to other ranks.
  std::unique_ptr<MeshState> compile(OwnedMesh mesh);
  void makeData(MeshState& state, Inheritance inheritance) const;
  void makeRunner(MeshState& state);
  /// Stands on another mesh, of which this rank has made its part: variables go over, and the plan lists what
  /// they are not there for.
  void standOn(std::unique_ptr<MeshState> next, const MigrationPlan& plan);
  /// The same plans on another mesh, and what becomes of the variables; on all ranks or on none.
  std::unique_ptr<MeshState> prepare(OwnedMesh mesh, FreshIndices fresh, MigrationPlan& plan);
  /// The mesh that the present values ask for, where it is another one.
  std::optional<OwnedMesh> wantedMesh();
  /// Why the run may not go on with a mesh; empty where it may.
  std::string refusalOf(const Hierarchy& mesh) const;
  /// Builds the mesh by the initial values, level by level.
  void followInitial(std::span<const double> control);
  /// False where the run ends here.
  bool regrid(RunListener& listener);
  /// Looks at what patches cost, where that is due, and deals them out anew where it pays.
  void rebalance(RunListener& listener);
  /// Tells the balance what patches have cost so far.
  void measure();
  /// Nothing of the state is under way any more, and all that others may ask it for is kept.
  void comeToRest();
  void runPlan(std::size_t plan, const StepInputs& inputs);
  StepInputs inputsOf(std::size_t plan, std::span<const double> control) const;
  void initialise(std::span<const double> control);
  void runInitial(std::span<const double> control);
  void step(std::span<const double> control, RunListener& listener);
  void takeProgram(const StepProgram& program, StepInputs inputs, RunListener& listener);
  /// The step that `next_` was, half as long; throws AgreedError where it may not be taken again.
  StepRetry retry(const std::string& cause, std::int64_t triesBefore);
  void expectWhole(const StepProgram& program, std::size_t plan) const;
  void takeStableDt(const StepResult& result);
  NextStep nextStep() const;
  const StepProgram& nextProgram() const;
  /// Number of the step that a run of the plan computes, as people count.
  std::int64_t stepNumber(std::size_t plan) const;
  [[noreturn]] void fail(std::size_t runningPlan, const Error& cause) const;

  Transport& transport_;
  const bool stepsOverlap_;
  Model model_;
  const SimulationOptions options_;  ///< the deck's word on devices included
  std::int64_t compiles_ = 0;
  std::vector<PlanTime> planTimes_;  ///< by plan
  TimeControl clock_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<MeshState> state_;
  StepStatistics earlier_;             ///< of the meshes before this one
  std::vector<double> earlierLevels_;  ///< seconds in tasks on each level, of the meshes before this one
  DevicePagingCounts earlierPaging_;   ///< likewise
  bool diagnoses_ = false;             ///< `startDiagnosis` was called, and `diagnosis` not since
  SolveBook solves_;
  std::optional<Regridding> regridding_;  ///< where the mesh follows the solution
  LoadBalance balance_;
  double meshSeconds_ = 0.0;  ///< that it took last time to stand on a mesh
  double cellSteps_ = 0.0;
  std::vector<double> solveNumbers_;   ///< when `startDiagnosis` was called, by column
  std::vector<double> keptDiagnosis_;  ///< where the mesh has changed between the two
  std::int64_t compilesAtStart_ = 0;
  bool restored_ = false;
  std::size_t lastPlan_ = 0;    ///< of the last step
  std::size_t stablePlan_ = 0;  ///< whose result has the largest stable step
  bool wasProgram_ = false;     ///< the last step was more than one plan
  bool isAhead_ = false;        ///< its reductions may be under way
  NextStep next_;               ///< the running step
};

}  // namespace tessera
