#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "components/step_program.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "scheduler/trace.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/owned_mesh.hpp"
#include "tools/simulation/deck/solver_table.hpp"
#include "tools/simulation/program/solve_book.hpp"

namespace tessera {

class LinearSolve;

/// Runs the items of step programs on one rank.
///
///   ProgramRun run(graphs, data, runner, transport, options);
///   const std::string cause = run.step(program, inputs);   // empty: the step is taken
///   if (cause.empty()) plan = run.contributor(stableDt);   // whose result has the next stable step
///
/// One thread, the one that runs steps. All ranks run the same items: what is decided on the way is decided
/// from reductions.
class ProgramRun {
 public:
  struct Options {
    bool devices = false;       ///< whether variables may be in the memory of devices
    double stallSeconds = 0.0;  ///< how long a call may take; 0: for ever
    std::function<void(const std::string&)> onStall{};
    /// Runs a plan (`StepRunner::runAhead`) and adds to a failure what people want to know.
    std::function<void(std::size_t plan, const StepInputs&)> runPlan{};
    const OwnedMesh* mesh = nullptr;  ///< which the graphs are of
    SolverSettings solver{};
    SolveBook* solves = nullptr;  ///< gets a line for each solve
    Trace* trace = nullptr;
  };

  /// All of these outlive the object.
  ProgramRun(const CompiledGraphs& graphs, DataWarehouse& data, StepRunner& runner, Transport& transport,
             Options options);
  ~ProgramRun();

  /// Runs a program over the step that `inputs` describe. Control numbers go with the first plan; so does a
  /// late dt, where that plan begins with the step. Empty: New is Old now. Otherwise why the step is refused:
  /// nothing has become of it, unless `hasPromoted`.
  std::string step(const StepProgram& program, const StepInputs& inputs);
  /// Whether an item of the last step has promoted.
  bool hasPromoted() const { return hasPromoted_; }
  /// Whether a late dt may be given to a step of the program.
  static bool takesLateDt(const StepProgram& program);

  /// The plan whose last run contributes to a reduction; empty where none of the last step does.
  std::optional<std::size_t> contributor(ReductionLabel reduction) const;
  std::size_t lastPlan() const { return ran_.back(); }
  /// The control numbers of the step.
  std::span<const double> control() const { return control_; }

 private:
  std::string run(const std::vector<ProgramItem>& items);
  std::string run(const RunItem& item);
  std::string run(const CallItem& item);
  std::string run(const SolveItem& item);
  std::string run(const RequireItem& item);
  std::string run(const RepeatItem& item);
  enum class Where { Host, Devices };
  /// Runs `work`, which does what `item` says: with what it reads where it works, and under a watch.
  void around(const CallItem& item, Where where, const std::function<void()>& work);
  bool mayUseDevice(const CallItem& access) const;
  /// Null where it has not run.
  LinearSolve* findSolve(const SolveItem& item);
  LinearSolve& solveOf(const SolveItem& item, bool onDevice);
  std::string judge(const SolveReport& report);
  StepInputs inputsOf(const RunItem& item);
  void noteRun(std::size_t plan);
  /// Waits for the reductions of all plans that ran, and takes their numbers.
  void collect();
  bool holds(const ReducedCondition& condition);
  void promote(const std::optional<LevelSelection>& levels);
  std::size_t planNamed(const std::string& name) const;
  bool readsReduced(std::size_t plan) const;

  const CompiledGraphs& graphs_;
  DataWarehouse& data_;
  StepRunner& runner_;
  Transport& transport_;
  const Options options_;
  StepInputs step_;
  bool promotesOnTheWay_ = false;
  bool hasPromoted_ = false;
  std::set<LabelId> persistent_;     ///< that have Old values
  std::set<LevelLabel> left_;        ///< New values that are not promoted
  std::vector<std::size_t> ran_;     ///< plans, each once, in the order of their last runs
  std::size_t collected_ = 0;        ///< how many of `ran_` have given their numbers
  std::vector<double> reduced_;      ///< by reduction
  std::vector<std::uint8_t> known_;  ///< by reduction: whether an item has contributed
  std::vector<double> control_;
  std::vector<std::unique_ptr<LinearSolve>> solves_;  ///< of the items that have run
};

}  // namespace tessera
