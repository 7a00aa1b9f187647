#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taskgraph/graph_compiler.hpp"

namespace tessera::test {

/// A body for tasks that are compiled but never run.
struct NoBody {
  template <class Task>
  void operator()(const Task&) const {}
};

/// A mesh of one level.
inline std::shared_ptr<const Hierarchy> mesh(Extent cells, Extent patches, std::array<bool, 3> periodic) {
  Geometry geometry;
  geometry.cells = cells;
  geometry.periodic = periodic;
  return Hierarchy::uniform(geometry, {Division::By::Patches, patches});
}

/// The graphs of every rank.
inline std::vector<CompiledGraphs> compileAllRanks(const std::vector<const StepPlan*>& plans,
                                                   const std::shared_ptr<const Hierarchy>& hierarchy,
                                                   const LabelTable& labels, const RankMap& owners, int ranks,
                                                   BufferReuse reuse = BufferReuse::On,
                                                   WindowSharing sharing = WindowSharing::On) {
  std::vector<CompiledGraphs> graphs;
  for (int r = 0; r < ranks; ++r) {
    CompileInput input{hierarchy, &labels, &owners, r, ranks};
    input.reuse = reuse;
    input.sharing = sharing;
    graphs.push_back(compileGraphs(plans, input));
  }
  return graphs;
}

/// The faults of the plans, or an empty list.
inline std::vector<std::string> faultsOf(const std::vector<const StepPlan*>& plans, const LabelTable& labels,
                                         const std::shared_ptr<const Hierarchy>& hierarchy) {
  const RankMap owners = distribute(*hierarchy, 1);
  try {
    compileGraphs(plans, {hierarchy, &labels, &owners, 0});
  } catch (const PlanError& error) {
    return error.faults();
  }
  return {};
}

}  // namespace tessera::test
