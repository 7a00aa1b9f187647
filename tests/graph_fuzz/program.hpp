#pragma once

#include <deque>
#include <memory>
#include <variant>
#include <vector>

#include "grid/label.hpp"
#include "grid/rank_map.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/step_plan.hpp"
#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// A label of any type and centering that a case may have.
template <class... T>
using LabelOfAny = std::variant<Label<T, Cell>..., Label<T, Node>..., Label<T, FaceX>..., Label<T, FaceY>...,
                                Label<T, FaceZ>...>;
using AnyLabel = LabelOfAny<double, float, std::int32_t, std::int64_t, Vec<double, 3>, Vec<float, 2>,
                            Components<double>, Components<float>>;

class CutPlans;

/// A case as a component would declare it: mesh, labels and plans with bodies. The case has to outlive it.
class Program {
 public:
  /// Throws DeckError where the mesh is not one.
  explicit Program(const FuzzCase& c);

  const FuzzCase& source() const { return case_; }
  const std::shared_ptr<const Hierarchy>& hierarchy() const { return hierarchy_; }
  const LabelTable& labels() const { return table_; }
  const std::vector<AnyLabel>& handles() const { return labels_; }
  const std::vector<ReductionLabel>& reductions() const { return reductions_; }

  std::vector<const StepPlan*> plans() const;
  /// Labels whose New value is compared after a plan.
  std::vector<LabelId> kept() const;

  RankMap owners(const ShapeSpec& shape) const;
  /// The graphs of all ranks, in the end of as many regrids as the shape asks for; of the items that the
  /// plans were cut into, where they were. Throws PlanError where a plan is refused.
  std::vector<CompiledGraphs> compile(const ShapeSpec& shape, WindowSharing sharing = WindowSharing::On,
                                      const CutPlans* cut = nullptr) const;

 private:
  void makeLabels();
  void declareSteps();
  void declare(TaskBuilder builder, const TaskSpec& task);

  const FuzzCase& case_;
  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable table_;
  std::vector<AnyLabel> labels_;
  std::vector<ReductionLabel> reductions_;
  std::deque<StepPlan> plans_;
};

}  // namespace tessera::fuzz
