#include "tests/graph_fuzz/regrid_chain.hpp"

#include "core/text/error.hpp"
#include "tests/graph_fuzz/compare_graphs.hpp"
#include "tests/graph_fuzz/recut.hpp"

namespace tessera::fuzz {

std::vector<CompiledGraphs> RegridChain::run() {
  const auto seed = shape_.seed * 1'000;
  std::vector<Mesh> meshes;
  const auto epochs = static_cast<std::uint64_t>(shape_.regrids);
  for (std::uint64_t epoch = 0; epoch <= epochs; ++epoch) {
    const auto hierarchy =
        epoch == epochs ? program_.hierarchy() : recut(*program_.hierarchy(), seed + epoch);
    meshes.push_back({hierarchy, ownersByPlace(*hierarchy, shape_.ranks, seed, epoch)});
  }
  compileAll(meshes.back());
  std::vector<CompiledGraphs> graphs;
  const Mesh* before = nullptr;
  for (const Mesh& mesh : meshes) {
    try {
      std::vector<CompiledGraphs> fresh = compileAll(mesh);
      if (graphs.empty()) graphs = std::move(fresh);
    } catch (const PlanError&) {
      continue;  // a mesh that these plans cannot run on
    }
    for (CompiledGraphs& rank : graphs) {
      if (before != nullptr) rank = recompiled(std::move(rank), *before, mesh);
    }
    before = &mesh;
  }
  return graphs;
}

CompileInput RegridChain::inputOf(const Mesh& mesh, Rank rank) const {
  const BufferReuse reuse = shape_.reuse ? BufferReuse::On : BufferReuse::Off;
  CompileInput input{mesh.hierarchy, &program_.labels(), &mesh.owners, rank,
                     shape_.ranks,   kTagBound,          reuse,        program_.kept()};
  input.scratch.above = shape_.scratchAbove();
  input.items = items_;
  return input;
}

std::vector<CompiledGraphs> RegridChain::compileAll(const Mesh& mesh) const {
  std::vector<CompiledGraphs> graphs;
  for (Rank rank = 0; rank < shape_.ranks; ++rank)
    graphs.push_back(compileGraphs(plans_, inputOf(mesh, rank)));
  return graphs;
}

CompiledGraphs RegridChain::recompiled(CompiledGraphs&& previous, const Mesh& before, const Mesh& next) {
  const Rank rank = previous.rank;
  const bool shared = !previous.shared.empty();
  Recompiled made = recompile(std::move(previous), plans_, inputOf(before, rank), inputOf(next, rank));
  ++(made.whyFull.empty() ? inPlace_ : full_);
  if (made.whyFull.empty() && (shared || !made.graphs.shared.empty())) ++inPlaceShared_;
  CompileInput input = inputOf(next, rank);
  const GraphSlots slots = slotsOf(made.graphs);
  input.slots = &slots;
  const std::string difference = firstDifference(made.graphs, compileGraphs(plans_, input));
  if (difference.empty()) return std::move(made.graphs);
  throw InternalError(Message("a recompile and a full compile differ")
                          .line("rank   ", rank, " of ", shape_.ranks)
                          .line("where  ", difference)
                          .text());
}

}  // namespace tessera::fuzz
