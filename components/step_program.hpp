#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "grid/generation.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "taskgraph/access.hpp"
#include "taskgraph/linear_system.hpp"

namespace tessera {

/// What the reductions of a step have found so far, the same on every rank: of each the last item that
/// contributes to it.
class ReducedNumbers {
 public:
  /// Both by ReductionLabel id; `known`: whether an item has contributed.
  ReducedNumbers(std::span<const double> values, std::span<const std::uint8_t> known)
      : values_(values), known_(known) {}
  /// Throws InternalError where no item has contributed.
  double operator()(ReductionLabel reduction) const;

 private:
  std::span<const double> values_;
  std::span<const std::uint8_t> known_;
};

/// Decides from reductions, and from nothing else: all ranks decide alike.
using ReducedCondition = std::function<bool(const ReducedNumbers&)>;

/// What a call of a program gets.
struct CallContext {
  DataWarehouse& data;  ///< what the call declares to read is on the host
  Transport& transport;
  double time = 0.0;  ///< of Old
  double dt = 0.0;    ///< New is at time + dt
  std::int64_t step = 0;
  ReducedNumbers reduced;
  /// By reduction; the call puts the numbers there that it declares to contribute, the same on every rank.
  std::span<double> contributes;
};

/// Something between two plans of a step that is no graph of tasks: a linear solver, an exchange with another
/// code. All ranks run it at once, each on its main thread; no message of a plan is under way then.
class ProgramCall {
 public:
  virtual ~ProgramCall() = default;
  /// Works on the owned indices of own patches (`DataWarehouse::ownedBox`). An Error on one rank ends the
  /// job.
  virtual void run(const CallContext& context) = 0;
};

/// A part of a step, in whole parts of its length, so that times do not add up roundings: from
/// `time + begin / parts * dt` on for `length / parts * dt`.
struct StepPart {
  std::int64_t begin = 0;
  std::int64_t length = 1;
  std::int64_t parts = 1;
  double from(double time, double dt) const {
    return time + dt * (static_cast<double>(begin) / static_cast<double>(parts));
  }
  double of(double dt) const { return dt * (static_cast<double>(length) / static_cast<double>(parts)); }
};

/// Runs a step plan.
struct RunItem {
  std::string plan;
  StepPart part{};
  std::optional<LevelSelection> promotes{};
  /// What tasks of the run find as reductions of earlier items.
  std::vector<std::pair<LabelId, double>> numbers{};
};

/// Calls something.
struct CallItem {
  std::string name;
  std::shared_ptr<ProgramCall> call;
  std::vector<std::pair<Generation, LabelId>> reads{};
  std::vector<LabelId> writes{};    ///< of which it gives a New value on all levels
  std::vector<LabelId> modifies{};  ///< of which it changes the New value on all levels
  std::vector<LabelId> contributes{};
};

/// Solves a linear system on all levels.
struct SolveItem {
  std::string name;  ///< as in messages and columns of the history: "heat.solve"
  LinearSystem system;
  /// What it reads and writes, as a call would say it.
  CallItem access() const;
};

/// Says more of what is wrong, from reductions and the mesh: the same on every rank.
using ReducedDetail = std::function<std::string(const ReducedNumbers&, const Hierarchy&)>;

/// Goes on only where a condition holds; otherwise nothing becomes of the step.
struct RequireItem {
  std::string cause;  ///< what is wrong where it does not: "the density is negative"
  ReducedCondition holds;
  ReducedDetail detail{};  ///< follows the cause: "in cell [3,1,0]"; empty: nothing more
};

struct ProgramItem;

/// Runs items again and again.
struct RepeatItem {
  std::vector<ProgramItem> items;
  ReducedCondition until;
  std::int64_t most = 1;
  std::string cause{};  ///< what is wrong where `until` does not hold in the end; empty: nothing is
};

struct ProgramItem {
  std::variant<RunItem, CallItem, SolveItem, RequireItem, RepeatItem> what;
};

/// Adds clauses to a plan that a program runs.
class RunBuilder {
 public:
  explicit RunBuilder(RunItem& item) : item_(item) {}
  /// The plan computes this part of the step: `task.time()`, `task.dt()` and conditions of time are those of
  /// the part. Without the clause the whole step.
  RunBuilder& over(StepPart part) {
    item_.part = part;
    return *this;
  }
  /// Once it has run, the New values that are there on these levels are Old ones for later items. Where no
  /// item says so, all of them become Old at the end of the program. What no task reads as Old stays as New.
  RunBuilder& promotes(LevelSelection levels = {}) {
    item_.promotes = levels;
    return *this;
  }
  /// The plan's tasks read this number by `task.reduced(number)`, as one that an earlier item has found: so
  /// that runs of one plan know which of them they are.
  RunBuilder& gives(ReductionLabel number, double value) {
    item_.numbers.emplace_back(number.id, value);
    return *this;
  }

 private:
  RunItem& item_;
};

/// Adds clauses to a call of a program.
class CallBuilder {
 public:
  explicit CallBuilder(CallItem& item) : item_(item) {}
  template <class T, Centering C>
  CallBuilder& reads(Generation generation, Label<T, C> label) {
    item_.reads.emplace_back(generation, label.id);
    return *this;
  }
  template <class T, Centering C>
  CallBuilder& writes(Label<T, C> label) {
    item_.writes.push_back(label.id);
    return *this;
  }
  template <class T, Centering C>
  CallBuilder& modifies(Label<T, C> label) {
    item_.modifies.push_back(label.id);
    return *this;
  }
  CallBuilder& contributes(ReductionLabel reduction) {
    item_.contributes.push_back(reduction.id);
    return *this;
  }

 private:
  CallItem& item_;
};

/// A step that is more than one plan: items that run one after the other. What a plan leaves as New, later
/// items read and change as New (they carry it on) until it is promoted. Reductions of an item are numbers
/// that later items read: `task.reduced(...)`, conditions, calls.
///
///   StepProgram program("step");
///   program.run("predict");
///   program.repeat({.until = [r = residual_](const auto& found) { return found(r) < 1e-8; }, .most = 50},
///                  [](StepProgram& body) { body.run("smooth"); });
///   program.require("the density is negative", [m = least_](const auto& found) { return found(m) > 0; });
///   program.run("correct");
class StepProgram {
 public:
  explicit StepProgram(std::string name) : name_(std::move(name)) {}

  RunBuilder run(std::string plan);
  CallBuilder call(std::string name, std::shared_ptr<ProgramCall> call);
  /// Solves a linear system, as the deck's [solver] says; afterwards its solution has a New value. Where it
  /// cannot be solved, the run ends, or the step is refused. Solves of one name, one after the other in a
  /// step, share their memory; columns of the history show the last of them.
  void solve(std::string name, const LinearSystem& system);
  void require(std::string cause, ReducedCondition holds, ReducedDetail detail = {});
  /// How often a body runs: until a condition holds, which is looked at after each pass, at most `most`
  /// times.
  struct Passes {
    ReducedCondition until;
    std::int64_t most = 1;
    std::string cause{};  ///< as `require`, where the condition does not hold in the end; empty: go on
  };
  template <class Declare>
  void repeat(Passes passes, const Declare& declare) {
    StepProgram body(name_);
    declare(body);
    addRepeat(std::move(passes), std::move(body));
  }

  const std::string& name() const { return name_; }
  const std::vector<ProgramItem>& items() const { return items_; }
  /// Names of all plans that it runs, each once, in the order of their first run.
  std::vector<std::string> plans() const;
  /// All solves, in their order; they live as long as the program.
  std::vector<const SolveItem*> solveItems() const;
  /// The names of all solves, each once, in their order.
  std::vector<std::string> solves() const;
  /// What calls and solves read and write, by label; some of them several times.
  std::vector<LabelId> labelsOfCalls() const;
  /// Of which calls and solves read Old.
  std::set<LabelId> labelsCalledAsOld() const;
  /// Whether it is nothing but one plan over the whole step.
  bool isOnePlan() const;
  /// The same program with a run of `plan` before its first item.
  StepProgram after(std::string plan) const;
  /// The same program under another name.
  StepProgram named(std::string name) const;

 private:
  void addRepeat(Passes passes, StepProgram body);

  std::string name_;
  std::vector<ProgramItem> items_;
};

}  // namespace tessera
