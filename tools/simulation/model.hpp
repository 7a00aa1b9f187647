#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/component.hpp"
#include "components/step_program.hpp"
#include "core/deck/deck.hpp"
#include "datawarehouse/archive/checkpoint_content.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/owned_mesh.hpp"
#include "taskgraph/step_plan.hpp"
#include "tools/simulation/analysis/analysis.hpp"
#include "tools/simulation/deck/run_settings.hpp"
#include "tools/simulation/program/step_parts.hpp"
#include "tools/simulation/program/subcycled_step.hpp"
#include "tools/simulation/regrid/mesh_following.hpp"

namespace tessera {

/// How a compile lays out memory; changes no bit of the result. The members are CompileInput's.
struct StoragePolicy {
  BufferReuse reuse = BufferReuse::On;
  WindowSharing sharing = WindowSharing::On;
  ScratchRule scratch{};
  int devices = 1;  ///< of each rank
};

/// The same where devices are used: they have windows of their own, with their halos in place. Where
/// placement is by cost, no two patches share one.
StoragePolicy withDevices(StoragePolicy storage, const DeviceOptions& devices);

/// The plans of every simulation, by their position in `Model::compile(...).plans`. Further step plans
/// follow.
enum class PlanId : std::size_t { Initial = 0, Step = 1, Diagnostics = 2 };

/// What a deck means: components made and configured, labels and the step plans. It knows neither ranks nor
/// memory, and not the mesh of the moment: that is a state of the simulation. It is the same on every rank,
/// and quick to make for any deck. Throws DeckError where a component refuses its values.
///
///   Model model(deck, registry);
///   CompiledGraphs graphs = model.compile(model.meshOfDeck(4), /*rank=*/0, /*ranks=*/4, tagBound);
class Model {
 public:
  /// `deck` has passed `checkDeck`.
  Model(const Deck& deck, const ComponentRegistry& registry);

  /// What else is wrong with a deck that has passed `checkDeck`: values that a component refuses, and unknown
  /// [output] fields. Throws DeckError with all of it, and PlanError where components use one label for
  /// different kinds of data. Makes no mesh, so it is quick for any deck.
  static void check(const Deck& deck, const ComponentRegistry& registry);

  const RunSettings& settings() const { return settings_; }
  const LabelTable& labels() const { return labels_; }
  ReductionLabel stableDt() const { return stableDt_; }
  /// Columns of the history, in the order of the components; then those of [analysis]. Units have the names
  /// of [units].
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const Analysis& analysis() const { return analysis_; }
  /// The variables that live from one step to the next, in the order of their ids: what a checkpoint holds.
  const std::vector<LabelId>& persistent() const { return persistent_; }
  /// The variables to write for viewing. Throws DeckError naming an unknown one in [output] fields.
  std::vector<LabelId> outputLabels() const;

  /// How the mesh follows the solution; nothing where it stays as it is.
  const MeshFollowing* following() const { return following_.get(); }

  /// The mesh that the deck says, dealt out to so many ranks along a curve: what a new run begins on.
  OwnedMesh meshOfDeck(int ranks) const;
  /// That of a checkpoint of this simulation: what a restart begins on, whatever patches the deck asks for.
  /// Throws InputError where the checkpoint belongs to another simulation.
  OwnedMesh meshOf(const CheckpointReader& checkpoint, int ranks) const;

  /// What a checkpoint has to have in common with this run, but for the mesh.
  const CheckpointIdentity& identity() const { return identity_; }

  /// Names what is computed: 32 hexadecimal digits over the program's version and every value of the deck
  /// that decides a bit of the result. So it is the same for any ranks, threads and patches, and for a run
  /// and its restarts.
  const std::string& runId() const { return runId_; }

  /// What the components choose for a step, with the optional parts that are due; a plan alone is a program
  /// of one item. Throws InternalError where they name what is not there, or choose differently.
  const StepProgram& stepProgram(const StepAt& at) const;
  /// All programs of steps, those of one plan among them.
  const std::vector<StepProgram>& programs() const { return programs_; }
  /// How many steps a level takes in one of the coarsest: 1, or more where finer levels take shorter ones.
  double stepsOfLevel(LevelId level) const;
  std::vector<double> stepsOfLevels() const;
  /// Position of a plan that a program runs.
  std::size_t planNamed(const std::string& name) const;

  /// All plans on a mesh from the point of view of one rank. The model has to outlive the result.
  CompiledGraphs compile(const OwnedMesh& mesh, Rank rank, int ranks, std::int64_t tagBound,
                         const StoragePolicy& storage = {}) const;

  /// So many threads may evaluate each expression of the components at once without making anything.
  void prepareExpressions(int threads) const;

 private:
  /// Who gets which patch of a mesh of which nothing is known but its cells.
  RankMap ownersOf(const Hierarchy& hierarchy, int ranks) const;
  void declare(const Deck& deck, const Schema& schema, const ComponentRegistry& registry);
  void declarePlans();
  void declarePrograms(const StepPlan& declaredSteps);
  void declareSubcycled(const StepPlan& declaredSteps);
  void checkSubcycled() const;
  void declareParts(const StepPlan& declaredSteps);
  const StepProgram& usualWith(const PartSet& parts) const;
  bool isItem(const StepPlan& plan) const;
  void checkSolvedLevels(const Deck& deck, const Schema& schema) const;
  void checkPrograms();
  void addSolves();
  void checkPlanNames(const StepPlan& declaredSteps) const;
  void declareAnalysis();
  void checkColumns() const;
  void findPersistent();
  void checkStep(const Deck& deck) const;
  void checkFieldFiles() const;
  void describeIdentity(const Deck& deck, const Schema& schema);

  RunSettings settings_;
  LabelTable labels_;
  ReductionLabel stableDt_;
  std::vector<std::unique_ptr<Component>> components_;
  std::vector<Expression> expressions_;  ///< all that the deck gives the components
  std::vector<StepPlan> plans_{StepPlan("initial"), StepPlan("step"), StepPlan("diagnostics")};
  StepParts parts_;
  PartSet usualParts_;                      ///< that the usual plan has, since they are due in every step
  std::vector<StepProgram> programs_;       ///< one of the name of each step plan at least
  std::vector<PlanItem> items_;             ///< by plan; empty where each is a whole step
  std::optional<SubcycledStep> subcycled_;  ///< where finer levels take shorter steps
  std::vector<LabelId> ofCalls_;            ///< what calls and solves look at after a plan
  std::vector<Diagnostic> diagnostics_;
  Analysis analysis_;
  std::vector<LabelId> persistent_;
  std::unique_ptr<MeshFollowing> following_;
  CheckpointIdentity identity_;
  std::string runId_;
};

}  // namespace tessera
