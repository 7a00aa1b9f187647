// How long the graph compiler takes, what it needs and how that grows: one rank of one, and one rank of many.
#include <algorithm>
#include <cmath>
#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/placement/placed_graph.hpp"
#include "taskgraph/storage/memory_plan.hpp"
#include "tools/bench/cpu_clock.hpp"
#include "tools/bench/radiation_case.hpp"

namespace tessera::bench {
namespace {

/// Task instances, edges and bytes of the graphs of a rank.
struct Size {
  std::int64_t instances = 0;
  std::int64_t edges = 0;
  std::int64_t bytes = 0;
  MemoryPlan memory;
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
  size.memory = memoryPlanOf(graphs);
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
  state.counters["planned_MB"] = static_cast<double>(size.memory.total()) / 1e6;
  state.counters["without_reuse_MB"] = static_cast<double>(size.memory.totalWithoutReuse()) / 1e6;
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

/// The least CPU time of a few runs, in milliseconds.
template <class Work>
double leastOf(int runs, Work&& work) {
  const CpuClock clock;
  double least = 1e300;
  for (int n = 0; n < runs; ++n) {
    const double start = clock.seconds();
    work();
    least = std::min(least, 1e3 * (clock.seconds() - start));
  }
  return least;
}

/// Patches that stay keep their owner; others go to the owner of the patch that lay at their lower corner.
RankMap ownersAfter(const Hierarchy& before, const RankMap& owners, const Hierarchy& after) {
  RankMap next;
  for (const Level& level : after.levels()) {
    for (const Patch& patch : level.patches()) {
      Rank owner = 0;
      before.level(level.number())
          .forEachOverlapping({patch.cells.lo, patch.cells.lo + Index{1, 1, 1}},
                              [&](const Patch& old) { owner = owners[static_cast<std::size_t>(old.id)]; });
      next.push_back(owner);
    }
  }
  return next;
}

/// There and back between the lattice and a regridded mesh: each iteration is one recompile. `percent` is its
/// mean CPU time over the least of a full compile, both without the making of the mesh, which is `mesh_ms`.
void recompileRank(benchmark::State& state, Extent fine, Extent coarse, Rank rank, int ranks) {
  const double fraction = static_cast<double>(state.range(0)) / 1000.0;
  const auto place = static_cast<RegridPlace>(state.range(1));
  const RadiationCase radiation;
  const std::vector<const StepPlan*> plans{&radiation.initial, &radiation.step};
  const std::shared_ptr<const Hierarchy> meshes[] = {radiationMesh(fine, coarse),
                                                     regriddedMesh(fine, coarse, fraction, place)};
  const RankMap first = distribute(*meshes[0], ranks);
  const RankMap owners[] = {first, ownersAfter(*meshes[0], first, *meshes[1])};
  const auto inputOf = [&](int n) {
    return CompileInput{meshes[n], &radiation.labels, &owners[n], rank, ranks};
  };
  const double mesh = leastOf(3, [&] { regriddedMesh(fine, coarse, fraction, place); });
  const double full = leastOf(3, [&] { compileGraphs(plans, inputOf(0)); });
  CompileInput start = inputOf(0);
  const GraphSlots slots = roomySlots(start);
  start.slots = &slots;
  CompiledGraphs graphs = compileGraphs(plans, start);
  int now = 0;
  std::int64_t fullOnes = 0;
  std::int64_t changed = 0;
  const CpuClock clock;
  const double begin = clock.seconds();
  for (auto _ : state) {
    Recompiled made = recompile(std::move(graphs), plans, inputOf(now), inputOf(1 - now));
    graphs = std::move(made.graphs);
    fullOnes += made.whyFull.empty() ? 0 : 1;
    changed = made.changedPatches;
    now = 1 - now;
  }
  const double mean = 1e3 * (clock.seconds() - begin) / static_cast<double>(state.iterations());
  state.counters["percent"] = 100.0 * mean / full;
  state.counters["full_ms"] = full;
  state.counters["mesh_ms"] = mesh;
  state.counters["went_or_came"] = static_cast<double>(changed);
  state.counters["full_ones"] = static_cast<double>(fullOnes);
}

void recompileOneRank(benchmark::State& state) { recompileRank(state, {64, 64, 64}, {16, 16, 16}, 0, 1); }
void recompileRank0Of8(benchmark::State& state) { recompileRank(state, {64, 64, 64}, {16, 16, 16}, 0, 8); }
void recompileRank46Of7467(benchmark::State& state) {
  recompileRank(state, {46, 49, 53}, {10, 12, 12}, 46, 7'467);
}

template <RegridPlace place>
void fractions(benchmark::internal::Benchmark* bench) {
  bench->Unit(benchmark::kMillisecond);
  for (const int thousandths : {1, 10, 30, 100, 300}) bench->Args({thousandths, static_cast<int>(place)});
}
BENCHMARK(recompileOneRank)->Apply(fractions<RegridPlace::Cluster>)->Apply(fractions<RegridPlace::Scattered>);
BENCHMARK(recompileRank0Of8)
    ->Unit(benchmark::kMillisecond)
    ->Args({1, static_cast<int>(RegridPlace::Octant)})
    ->Args({10, static_cast<int>(RegridPlace::Octant)})
    ->Args({10, static_cast<int>(RegridPlace::Cluster)});
BENCHMARK(recompileRank46Of7467)
    ->Unit(benchmark::kMillisecond)
    ->Args({10, static_cast<int>(RegridPlace::Cluster)});

/// Places the step of one rank: all tasks of patches on a device, or every other one (in the order of
/// declaration), so that values are copied between most tasks.
void placeRank(benchmark::State& state, bool mixed) {
  const RadiationCase radiation;
  const std::vector<const StepPlan*> plans{&radiation.initial, &radiation.step};
  const Extent fine{state.range(0), state.range(1), state.range(2)};
  const auto mesh = radiationMesh(fine, {fine.i / 4, fine.j / 4, fine.k / 4});
  const RankMap owners = distribute(*mesh, 1);
  const CompiledGraphs graphs = compileGraphs(plans, {mesh, &radiation.labels, &owners, 0, 1});
  const auto& tasks = radiation.step.tasks();
  const PlaceTask place = [&](const TaskDeclaration& task, LevelId, std::int32_t local) {
    const auto same = [&](const TaskDeclaration& other) { return other.name == task.name; };
    const auto number = std::find_if(tasks.begin(), tasks.end(), same) - tasks.begin();
    return local >= 0 && (!mixed || number % 2 == 0) ? DeviceAssignment{0} : kOnHost;
  };
  PlacedGraph placed;
  for (auto _ : state) placed = placeGraph(graphs, 1, place);
  state.counters["nodes"] = static_cast<double>(graphs.plans[1].nodeCount());
  state.counters["added"] = static_cast<double>(placed.nodeCount() - graphs.plans[1].nodeCount());
  state.counters["edges"] = static_cast<double>(placed.hostEdges.itemCount()) +
                            static_cast<double>(placed.deviceEdges.size() + placed.peerEdges.size());
}
void placeOnOneDevice(benchmark::State& state) { placeRank(state, false); }
void placeEveryOther(benchmark::State& state) { placeRank(state, true); }
BENCHMARK(placeOnOneDevice)->Unit(benchmark::kMillisecond)->Args({24, 24, 24})->Args({32, 32, 32});
BENCHMARK(placeEveryOther)->Unit(benchmark::kMillisecond)->Args({24, 24, 24})->Args({32, 32, 32});

}  // namespace
}  // namespace tessera::bench

BENCHMARK_MAIN();
