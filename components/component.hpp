#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/step_at.hpp"
#include "components/step_program.hpp"
#include "core/deck/parameters.hpp"
#include "grid/geometry.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// What a column can show of a solve.
enum class SolveNumber { Iterations, Residual };

/// A column of the history: a reduction that `declareDiagnostics` contributes to, and how to show it.
struct Diagnostic {
  std::string name;  ///< "heat.total", "heat.error_l2"
  ReductionLabel reduction;
  std::function<double(double)> show{};  ///< from the reduced number to the column; empty: as it is
  std::optional<ReductionLabel> per{};   ///< another reduction, by which the number is divided: a mean
  /// In place of a reduction: a number of the last solve of this name in a step program.
  std::string solve{};
  SolveNumber number = SolveNumber::Iterations;
  /// What it measures, in words as units of variables, which may be multiplied with " * ": "temperature *
  /// length^3"; "1": a number alone; empty: not known.
  std::string unit{};
};

/// The unit of an integral over a volume of what has `unit`; empty where that is not known.
inline std::string integralUnit(const std::string& unit) {
  return unit.empty() ? unit : unit + " * length^3";
}

/// What a component gets to configure itself.
struct ComponentSetup {
  LabelTable& labels;
  const Geometry& geometry;
  /// Every component contributes (Min) the largest stable time step to this, or nothing.
  ReductionLabel stableDt;
  double cfl = 1.0;  ///< the part of it that a step takes (time.cfl)
  DeckLocation cflWhere{};
  /// What tasks evaluate beside the expressions of the component's table: those that it makes of them. A
  /// program of each is made for every thread before the run. Conditions need not be among them.
  std::vector<Expression> composed{};
  int levels = 1;            ///< of the mesh; several where the deck has [[grid.level]]
  std::int64_t retries = 0;  ///< how often a step that is refused may be taken again (time.retries)
  /// How variables go on beyond the border of a level (amr.prolongation); empty: as the component wants it.
  std::optional<Prolongation> prolongation{};
  bool refluxes = true;  ///< whether coarse cells take the fluxes of finer ones beside them (amr.reflux)
  /// Whether finer levels take several shorter steps in each step of the coarser one (amr.subcycle). Then no
  /// stage of a finer level is there for a coarser one, and no task brings one down.
  bool subcycles = false;
  DeckLocation subcycleWhere{};

  /// Whether the component has to keep its fluxes, and give them to `refluxes`.
  bool keepsFluxes() const { return levels > 1 && refluxes; }
  /// Whether values within a step are brought from finer levels to coarser ones.
  bool averagesStages() const { return levels > 1 && !subcycles; }
};

/// One physics. The simulation calls, in this order: `declareParameters` (any time, also without a deck),
/// `configure` once, then the declare functions once each; it never calls two at once.
///
/// A step is `declareStep`: tasks that read Old and write New; New becomes Old after it. Labels that a plan
/// does not write keep their Old value.
class Component {
 public:
  virtual ~Component() = default;

  /// The component's name in decks, and the name of its table: "heat".
  virtual std::string name() const = 0;
  /// One line for `tessera list`.
  virtual std::string summary() const = 0;
  /// Whether its tasks are right on a mesh of several levels: they bring values from level to level where
  /// levels meet. A deck with [[grid.level]] is refused for a component that says no.
  virtual bool supportsLevels() const { return false; }
  /// Whether finer levels may take shorter steps than coarser ones (tools/simulation/program/subcycled_step
  /// says what becomes of its tasks). A deck with amr.subcycle is refused for a component that says no.
  virtual bool supportsSubcycling() const { return false; }
  virtual void declareParameters(ParameterTable& table) const = 0;
  virtual void configure(const ParameterValues& values, ComponentSetup& setup) = 0;

  /// Tasks that write every variable at the start time.
  virtual void declareInitial(StepPlan& plan) const = 0;
  virtual void declareStep(StepPlan& plan) const = 0;
  /// Names of step plans besides the usual "step", for steps that do something more, or something else. A
  /// task of any component says with `.in(...)` in which plans it takes part. All plans are compiled at the
  /// start.
  virtual std::vector<std::string> stepPlans() const { return {}; }
  /// Programs of steps that are more than one plan (components/step_program.hpp), by names that `choosePlan`
  /// may give; one called "step" is the usual step. Plans that they run need not be in `stepPlans`. A task
  /// that says no `.in(...)` takes part in each plan of a program.
  virtual std::vector<StepProgram> stepPrograms() const { return {}; }
  /// The plan or program of a step, by its number or by time; the same on every rank, so a function of what
  /// is given alone. What one step leaves, any other reads as Old. Where components differ, "step" gives way;
  /// two others are an error.
  virtual std::string choosePlan(const StepAt& /*at*/) const { return "step"; }
  /// Parts that only some of the usual steps have, each with its cadence; a task of any component says with
  /// `.in(name)` that it is of one. Parts of several components that are due in one step are run in it
  /// together: of all sets that may come together a plan is compiled at the start. What a part writes keeps
  /// its value until the part is due again. Where the usual step is a program of several plans, the tasks of
  /// the parts are a plan that runs before its first item. A step for which `choosePlan` names another plan
  /// than the usual one has no parts, so none may be due then.
  ///
  ///   std::vector<OptionalPart> stepParts() const override { return {{"radiation", everySteps(20)}}; }
  virtual std::vector<OptionalPart> stepParts() const { return {}; }
  /// Whether its variables can go to a mesh of other cells between two steps. A deck whose mesh follows the
  /// solution ([amr] max_levels) is refused for a component that says no.
  virtual bool followsMesh() const { return false; }
  /// Tasks that run once when the mesh has got other cells, before the next step: they contribute the largest
  /// stable time step, and write anew what is a function of place and time alone. All other variables that
  /// live from step to step are carried over, New of which these tasks may read: they keep their values, and
  /// new cells get theirs from the coarser ones, as the variable's prolongation says.
  virtual void declareRegrid(StepPlan& /*plan*/) const {}
  /// Tasks that only read Old and contribute to reductions; run when a history line is due.
  virtual void declareDiagnostics(StepPlan& /*plan*/) const {}
  virtual std::vector<Diagnostic> diagnostics() const { return {}; }
};

/// Makes components by name; the program and outside programs fill one, there is no global list.
class ComponentRegistry {
 public:
  using Maker = std::function<std::unique_ptr<Component>()>;

  /// Throws InternalError when the name is taken.
  void add(Maker maker);
  template <class C>
  void add() {
    add([] { return std::make_unique<C>(); });
  }
  /// A new component, or an empty pointer for an unknown name.
  std::unique_ptr<Component> make(const std::string& name) const;
  /// In the order of adding.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<Maker> makers_;
};

/// heat, advection, wave, euler, levels, diffusion, poisson, rmcrt, lowmach: what the `tessera` program
/// offers.
ComponentRegistry builtInComponents();

}  // namespace tessera
