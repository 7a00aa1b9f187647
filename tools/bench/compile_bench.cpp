// How long the graph compiler takes, what it needs and how that grows: one rank of one, and one rank of many.
#include <cmath>
#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include "taskgraph/graph_compiler.hpp"
#include "tools/bench/radiation_case.hpp"

namespace tessera::bench {
namespace {

/// Task instances, edges and bytes of the graphs of a rank.
struct Size {
  std::int64_t instances = 0;
  std::int64_t edges = 0;
  std::int64_t bytes = 0;
};

template <class T>
std::int64_t bytesOf(const std::vector<T>& list) {
  return static_cast<std::int64_t>(list.capacity() * sizeof(T));
}

Size sizeOf(const CompiledGraphs& graphs) {
  Size size;
  size.bytes = bytesOf(graphs.ownPatches) + bytesOf(graphs.storage);
  for (const auto& gathers : graphs.gathers) size.bytes += bytesOf(gathers);
  for (const CompiledGraph& g : graphs.plans) {
    for (const NodeBlock& b : g.blocks) size.instances += b.kind == NodeKind::Task ? b.count : 0;
    size.edges += g.edgeCount();
    size.bytes += bytesOf(g.blockOf) + bytesOf(g.predecessorCounts) + g.successorLists.bytes() +
                  bytesOf(g.singleEdges) + bytesOf(g.packItems);
    for (const NeighbourTable& t : g.tables) size.bytes += t.bytes();
    for (const FillPlan& f : g.fills) size.bytes += f.pieces.bytes() + f.coarse.bytes();
  }
  return size;
}

double peakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Compiles for `rank` of `ranks`; the time includes the patch index and hash of the mesh, but not the
/// distribution of patches over ranks.
void compile(benchmark::State& state, Extent fine, Extent coarse, Rank rank, int ranks) {
  const RadiationCase radiation;
  const StepPlan* plans[] = {&radiation.initial, &radiation.step};
  const RankMap owners = distribute(*radiationMesh(fine, coarse), ranks);
  Size size;
  for (auto _ : state) {
    const auto mesh = radiationMesh(fine, coarse);
    CompileInput input{mesh, &radiation.labels, &owners, rank, ranks};
    const CompiledGraphs graphs = compileGraphs(plans, input);
    state.PauseTiming();
    size = sizeOf(graphs);
    state.ResumeTiming();
  }
  state.SetComplexityN(fine.i * fine.j * fine.k);
  state.counters["instances"] = static_cast<double>(size.instances);
  state.counters["edges"] = static_cast<double>(size.edges);
  state.counters["graph_MB"] = static_cast<double>(size.bytes) / 1e6;
  state.counters["B/instance"] =
      static_cast<double>(size.bytes) / static_cast<double>(std::max<std::int64_t>(1, size.instances));
  state.counters["peak_MB"] = peakMegabytes();
  state.counters["ns/edge"] =
      benchmark::Counter(static_cast<double>(size.edges) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void oneRank(benchmark::State& state) {
  const Extent fine{state.range(0), state.range(1), state.range(2)};
  compile(state, fine, {fine.i / 4, fine.j / 4, fine.k / 4}, 0, 1);
}
void rank46Of7467(benchmark::State& state) { compile(state, {46, 49, 53}, {10, 12, 12}, 46, 7'467); }
void rank0Of65536(benchmark::State& state) { compile(state, {100, 100, 100}, {25, 25, 25}, 0, 65'536); }

BENCHMARK(oneRank)
    ->Unit(benchmark::kMillisecond)
    ->Args({4, 4, 4})
    ->Args({8, 8, 8})
    ->Args({16, 16, 16})
    ->Args({32, 32, 32})
    ->Args({64, 64, 32})
    ->Args({64, 64, 64})
    ->Args({100, 100, 100});
BENCHMARK(rank46Of7467)->Unit(benchmark::kMillisecond);
BENCHMARK(rank0Of65536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tessera::bench

BENCHMARK_MAIN();
