// What large halos take: bytes stored over distinct bytes, with windows shared between patches and with
// private copies, and the time of a step with each. `--small` runs the smallest cases only.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "core/loopback_transport.hpp"
#include "datawarehouse/task_context.hpp"
#include "grid/refined_levels.hpp"
#include "scheduler/make_data_warehouse.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "taskgraph/memory_plan.hpp"
#include "taskgraph/stored_windows.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t kWhole = -1;  ///< the halo that is a whole level
constexpr std::int64_t kPatch = 16;

struct HaloCase {
  std::string shape;
  std::int64_t cells = 64;  ///< along an axis of the level that is looked at
  std::int64_t halo = 0;
};

struct Measured {
  std::int64_t stored = 0;   ///< windows and gathers
  std::int64_t windows = 0;  ///< without gathers
  std::int64_t distinct = 0;
  double stepSeconds = 0.0;
  double sum = 0.0;  ///< of all values after the last step
};

/// The shape is the only level, or level 1 over a level 0 that covers the domain.
std::shared_ptr<const Hierarchy> meshOf(const HaloCase& c) {
  Geometry geometry;
  const Division division{Division::By::PatchSize, {kPatch, kPatch, kPatch}};
  if (c.shape == "box") {
    geometry.cells = {c.cells, c.cells, c.cells};
    return Hierarchy::uniform(geometry, division);
  }
  const std::int64_t n = c.cells / 2;  // of level 0
  geometry.cells = {n, n, n};
  RefinedLevel fine;
  fine.patchSize = division.value;
  if (c.shape == "L") {
    fine.boxes = {Box{{0, 0, 0}, {n, n / 2, n}}, Box{{0, n / 2, 0}, {n / 2, n, n}}};
  } else {
    fine.boxes = {Box{{0, n / 4, 0}, {n, 3 * n / 4, n}}, Box{{n / 4, 0, 0}, {3 * n / 4, n / 4, n}},
                  Box{{n / 4, 3 * n / 4, 0}, {3 * n / 4, n, n}}};
  }
  return refinedHierarchy(geometry, division, {fine});
}

class HaloRun {
 public:
  explicit HaloRun(const HaloCase& c) : case_(c), mesh_(meshOf(c)) {
    labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    initial_.task("Halo::initial").writes(u_).runs<Cpu>([u = u_](const auto& task) {
      const auto out = task.write(u);
      forEach(task.exec(), "initial", task.interior(),
              [=](Index x) { out(x) = static_cast<double>((7 * x.i + 13 * x.j + 29 * x.k) % 64) / 64.0; });
    });
    if (mesh_->levels().size() > 1) {
      step_.task("Halo::keep")
          .on(allButFinest())
          .reads(Old, u_)
          .writes(u_)
          .runs<Cpu>([u = u_](const auto& task) {
            const auto old = task.read(Old, u);
            const auto out = task.write(u);
            forEach(task.exec(), "keep", task.interior(), [=](Index x) { out(x) = old(x); });
          });
      declareStep(step_.task("Halo::step").on(allButCoarsest()));
    } else {
      declareStep(step_.task("Halo::step"));
    }
  }

  Measured run(WindowSharing sharing, int steps) {
    const RankMap owners = distribute(*mesh_, 1);
    CompileInput input{mesh_, &labels_, &owners, 0};
    input.sharing = sharing;
    const std::vector<const StepPlan*> plans{&initial_, &step_};
    const CompiledGraphs graphs = compileGraphs(plans, input);
    Measured m;
    m.stored = memoryPlanOf(graphs).total();
    const StoredWindows all = sumOf(storedWindows(graphs));
    m.windows = all.bytes;
    m.distinct = all.distinctBytes;
    const auto data = makeDataWarehouse(graphs);
    LoopbackWorld world(1, {});
    runRanks(world, [&](Transport& transport) {
      const auto executor = makeInOrderExecutor();
      StepRunner runner(graphs, *data, transport, *executor, {.checked = false, .findNonFinite = false});
      runner.run(0, {0.0, 0.0, 0, {}});
      m.stepSeconds = std::numeric_limits<double>::infinity();
      for (int s = 0; s < steps; ++s) {
        const auto start = std::chrono::steady_clock::now();
        runner.run(1, {0.0, 0.0, s + 1, {}});
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        m.stepSeconds = std::min(m.stepSeconds, spent.count());
      }
    });
    m.sum = sumOfValues(*data);
    return m;
  }

  /// A copy of the level for each patch that reads it, as tasks with halos of their own keep it.
  std::int64_t bytesOfCopies() const {
    const Level& level = mesh_->levels().back();
    return static_cast<std::int64_t>(level.patches().size()) * level.cellCount() * 8;
  }

 private:
  void declareStep(TaskBuilder task) {
    const std::int64_t h = case_.halo;
    if (h == kWhole) {
      const std::int64_t n = case_.cells;
      const std::int64_t low = case_.shape == "plus" ? n / 4 : 0;  // a bar that the shape covers
      task.reads(Old, u_, wholeLevel()).writes(u_).template runs<Cpu>([u = u_, n, low](const auto& t) {
        const auto old = t.readLevel(Old, u);
        const auto out = t.write(u);
        forEach(t.exec(), "whole", t.interior(), [=](Index x) {
          out(x) = old({n - 1 - x.i, low + x.j % (n / 2), x.k});
        });
      });
      return;
    }
    task.reads(Old, u_, halo(h)).writes(u_).template runs<Cpu>([u = u_, h](const auto& t) {
      const auto old = t.read(Old, u);
      const auto out = t.write(u);
      forEach(t.exec(), "step", t.interior(), [=](Index x) {
        out(x) = ((old(x - Index{h, 0, 0}) + old(x + Index{h, 0, 0})) +
                  (old(x - Index{0, h, 0}) + old(x + Index{0, h, 0})) +
                  (old(x - Index{0, 0, h}) + old(x + Index{0, 0, h}))) /
                 6.0;
      });
    });
  }

  double sumOfValues(const DataWarehouse& data) const {
    double sum = 0.0;
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
      std::vector<double> values(static_cast<std::size_t>(data.ownedBox(u_.id, local).volume()));
      data.packOwned(u_.id, local, std::as_writable_bytes(std::span(values)));
      for (const double v : values) sum += v;
    }
    return sum;
  }

  HaloCase case_;
  std::shared_ptr<const Hierarchy> mesh_;
  LabelTable labels_;
  Label<double, Cell> u_ = labels_.variable<double, Cell>("u");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

double mega(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// False where the two runs differ.
bool printCase(const HaloCase& c, int steps) {
  HaloRun run(c);
  const Measured shared = run.run(WindowSharing::On, steps);
  const Measured apart = run.run(WindowSharing::Off, steps);
  const std::string halo = c.halo == kWhole ? "level" : std::to_string(c.halo);
  const std::int64_t copies = apart.windows + (c.halo == kWhole ? run.bytesOfCopies() : 0);
  std::printf("%-5s %4lld %6s %10.2f %10.2f %8.3f %12.2f %9.2f %10.2f %10.2f\n", c.shape.c_str(),
              static_cast<long long>(c.cells), halo.c_str(), mega(shared.distinct), mega(shared.stored),
              static_cast<double>(shared.stored) / static_cast<double>(shared.distinct), mega(copies),
              static_cast<double>(copies) / static_cast<double>(shared.distinct), 1e3 * shared.stepSeconds,
              1e3 * apart.stepSeconds);
  if (shared.sum == apart.sum) return true;
  std::printf("the two runs differ: %.17g and %.17g\n", shared.sum, apart.sum);
  return false;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  std::printf(
      "MB of one variable, Old and New, patches of 16^3; step: one thread, least of several, in ms\n"
      "(over a level that is refined in part, the coarse level is counted as well)\n"
      "shape   n^3   halo   distinct     stored    ratio       copies     ratio  step here  of copies\n");
  bool same = true;
  for (const std::int64_t cells : {64, 128}) {
    for (const char* shape : {"box", "L", "plus"}) {
      for (const std::int64_t halo : {0, 1, 4, 16, -1}) {
        if (small && (cells > 64 || halo == 4)) continue;
        same = tessera::bench::printCase({shape, cells, halo}, small ? 1 : 5) && same;
      }
    }
  }
  return same ? 0 : 1;
}
