#pragma once

#include <memory>
#include <vector>

#include "grid/rank_map.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/graph_fuzz/cut_plans.hpp"
#include "tests/graph_fuzz/program.hpp"

namespace tessera::fuzz {

/// 32,767 is the least tag bound that MPI promises.
inline constexpr std::int64_t kTagBound = 32'767;

/// Compiles a program for some other mesh and recompiles it, regrid after regrid, until it stands on its own
/// mesh. Whatever a recompile returns is compared with a full compile for the same slots.
class RegridChain {
 public:
  /// All have to outlive the chain. `cut`: of the program's plans, in whose place they are compiled; or null.
  RegridChain(const Program& program, const ShapeSpec& shape, const CutPlans* cut = nullptr)
      : program_(program), shape_(shape), plans_(cut == nullptr ? program.plans() : cut->plans()) {
    if (cut != nullptr) items_ = cut->items();
  }

  /// The graphs of all ranks on the program's mesh. Throws PlanError where that mesh is refused,
  /// InternalError where a recompile and a full compile differ.
  std::vector<CompiledGraphs> run();
  int inPlace() const { return inPlace_; }
  /// Of these, how many had or got windows that patches share, on a level that changed or not.
  int inPlaceShared() const { return inPlaceShared_; }
  int full() const { return full_; }

 private:
  struct Mesh {
    std::shared_ptr<const Hierarchy> hierarchy;
    RankMap owners;
  };

  CompileInput inputOf(const Mesh& mesh, Rank rank) const;
  std::vector<CompiledGraphs> compileAll(const Mesh& mesh) const;
  CompiledGraphs recompiled(CompiledGraphs&& previous, const Mesh& before, const Mesh& next);

  const Program& program_;
  const ShapeSpec& shape_;
  const std::vector<const StepPlan*> plans_;
  std::vector<PlanItem> items_;
  int inPlace_ = 0;
  int inPlaceShared_ = 0;
  int full_ = 0;
};

}  // namespace tessera::fuzz
