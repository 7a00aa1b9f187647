#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/rank_map.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// Whether patches may store large halos that overlap as one. Off is for debugging and comparison: it changes
/// no bit of a result and needs more memory.
enum class WindowSharing : std::uint8_t { Off, On };

/// Whether values that are never in use at the same time may share memory. Off is for debugging: it changes
/// no bit of a result, needs more memory and leaves every value of a step to be looked at.
enum class BufferReuse : std::uint8_t { Off, On };

/// When halos are gathered into scratch windows instead of being stored, of those variables where that is
/// possible (LevelStorage::scratch). From the sizes of the caches: beyond them memory traffic is what a
/// stencil costs, and a scratch window is cheap where it stays in the cache of a core. Changes no bit of a
/// result.
struct ScratchRule {
  /// Where what the rank keeps of all variables, without halos, takes more bytes than this ...
  std::int64_t above = std::numeric_limits<std::int64_t>::max();
  /// ... and the largest window of the variable on the level no more than this.
  std::int64_t largestWindow = std::numeric_limits<std::int64_t>::max();
  friend bool operator==(const ScratchRule&, const ScratchRule&) = default;
};

/// What a plan finds, and when what it leaves becomes Old, as an item of step programs
/// (components/step_program.hpp).
struct PlanItem {
  std::vector<CarriedValue> carried{};  ///< ascending; what the plan writes afresh may be among them
  std::vector<LabelId> reduced{};       ///< reductions of which earlier items have found values, ascending
  bool endsStep = true;                 ///< as CompiledGraph has it
  std::vector<StandIn> standIns{};      ///< each label and generation once
  friend bool operator==(const PlanItem&, const PlanItem&) = default;
};

/// By level, a factor of what tasks contribute to a reduction there.
struct LevelFactors {
  LabelId reduction = -1;
  std::vector<double> ofLevel;
};

/// From whose point of view to compile. `rank` need not be the real one.
struct CompileInput {
  std::shared_ptr<const Hierarchy> hierarchy;
  const LabelTable* labels = nullptr;
  const RankMap* owners = nullptr;
  Rank rank = 0;
  /// Of the job, those without patches included: all of them pass on the parts of a whole level.
  int ranks = 1;
  std::int64_t tagBound = (std::int64_t{1} << 28) - 1;  ///< the largest tag (MPI_TAG_UB)
  BufferReuse reuse = BufferReuse::On;
  /// Whose New value somebody looks at after a plan, besides those that some plan reads as Old: they keep
  /// memory of their own.
  std::vector<LabelId> kept{};
  WindowSharing sharing = WindowSharing::On;
  /// Of this rank, that its patches of each level are dealt out to along the curve (`cutAlongCurve`): those
  /// of different devices share no window. The same number on every rank.
  int devices = 1;
  ScratchRule scratch{};  ///< never, unless given
  /// Labels whose halos are stored on these levels in any case, say because a device has them.
  std::vector<LevelLabel> storedHalos{};
  /// By plan; empty: each plan is a whole step.
  std::vector<PlanItem> items{};
  /// What contributions from each level count in a Min or Max; of labels without an entry: 1.
  std::vector<LevelFactors> factors{};
  /// Where own patches stand; null: ascending, with nothing spare between them.
  const GraphSlots* slots = nullptr;
};

/// Slots for a mesh that will change: own patches of each level ascending, and an eighth to spare.
GraphSlots roomySlots(const CompileInput& input);

/// Compiles all step plans of a simulation together: they share memory, so the halo of a label is the largest
/// that any of them asks for. `plans[0]` runs first (the initial plan). A pure function: no MPI, threads or
/// I/O.
///
/// Throws PlanError with every fault of every plan at once: a read without producer, two producers, a cycle,
/// an ambiguous version, a halo wider than the level, a missing boundary condition, a task without a body,
/// a label of two types.
CompiledGraphs compileGraphs(std::span<const StepPlan* const> plans, const CompileInput& input);

/// What `recompile` returns.
struct Recompiled {
  CompiledGraphs graphs;
  /// Empty where the graphs were changed in place; otherwise why everything had to be compiled anew.
  std::string whyFull;
  /// Patches of all ranks that went, came, or changed owner or slot.
  std::int64_t changedPatches = 0;
};

/// The graphs for another mesh or another map of owners, made from those that `before` led to (by
/// `compileGraphs` or by this function; `before.slots` is not looked at): what has nothing to do with patches
/// that changed stays as it is. The result is equal, entry by entry, to `compileGraphs` of `next` with
/// `slotsOf(result)`. A patch that stays, and stays with this rank, keeps its slot, except where a level
/// loses patches and its last ones move into the gaps.
///
/// All is compiled anew, with room for later changes, where plans, labels, ranks or the geometry of levels
/// differ, where a level or a stage of messages needs more numbers than are spare, where the lists have grown
/// by a quarter, where half of the graph would have to be redone, where a rank has so few of the patches that
/// this is faster, and where a level that is read whole stops or starts being one window. `previous` is used
/// up, also when a PlanError is thrown.
Recompiled recompile(CompiledGraphs&& previous, std::span<const StepPlan* const> plans,
                     const CompileInput& before, const CompileInput& next);

/// The faults of a set of plans; each is a paragraph with a fix.
class PlanError : public ErrorClass<PlanError> {
 public:
  explicit PlanError(std::vector<std::string> faults);
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

}  // namespace tessera
