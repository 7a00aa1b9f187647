#include "tools/simulation/memory_need.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/text/error.hpp"
#include "grid/refine.hpp"
#include "taskgraph/storage/memory_plan.hpp"

namespace tessera {
namespace {

/// Measured with one variable: at the owner of a patch, and at each rank that only knows of it.
constexpr double kBytesOfOwnPatch = 1500.0;
constexpr double kBytesOfPatch = 100.0;
/// Ranks need alike, but not the same.
constexpr double kUnevenness = 1.25;

std::string bytesText(double bytes) {
  std::ostringstream out;
  out.precision(bytes < 1e12 ? 4 : 3);
  if (bytes < 1e9) {
    out << std::ceil(bytes / 1e6) << " MB";
  } else {
    out << bytes / 1e9 << " GB";
  }
  return out.str();
}

void require(double needed, const std::string& forWhom, double there, const std::string& limit) {
  if (needed <= there) return;
  throw InternalError(Message("the run needs more memory than there is")
                          .line("needs  ", bytesText(needed), forWhom)
                          .line("there  ", bytesText(there), ", by ", limit)
                          .line("fix    use fewer cells or patches, or more machines; `tessera check --deep "
                                "--ranks R` tells what a rank needs")
                          .text());
}

/// `mine`: of this rank; `unevenness`: by how much a rank may need more than the mean of all.
void requireBoth(double mine, RanksHere ranks, double unevenness, const MemoryHere& memory) {
  const std::string all =
      ranks.here > 1 ? " for the " + std::to_string(ranks.here) + " ranks on this machine" : "";
  require(mine, ranks.here > 1 ? " for this rank" : "", static_cast<double>(memory.process.bytes),
          memory.process.limit);
  const double there = static_cast<double>(memory.machine.bytes);
  if (mine * ranks.here / (ranks.here > 1 ? unevenness : 1.0) > there)
    require(mine * ranks.here, all, there, memory.machine.limit);
}

/// Cells and patches of all levels.
struct MeshSize {
  double cells = 0.0;
  double patches = 0.0;

  void add(Extent extent, Extent patch) {
    double volume = 1.0;
    double pieces = 1.0;
    for (int d = 0; d < kAxes; ++d) {
      volume *= static_cast<double>(extent[d]);
      pieces *= std::ceil(static_cast<double>(extent[d]) /
                          static_cast<double>(std::max<std::int64_t>(patch[d], 1)));
    }
    cells += volume;
    patches += pieces;
  }
};

MeshSize sizeOf(const RunSettings& settings) {
  MeshSize size;
  Extent patch = settings.division.value;
  if (settings.division.by == Division::By::Patches) {
    for (int d = 0; d < kAxes; ++d) patch[d] = settings.geometry.cells[d] / settings.division.value[d];
  }
  size.add(settings.geometry.cells, patch);
  for (const RefinedLevel& level : settings.levels) {
    for (const Box& box : level.boxes)
      size.add(refine(box, ratioAlongAxes(settings.geometry, level.ratio)).extent(), level.patchSize);
  }
  return size;
}

void requireForMesh(const Model& model, const MeshSize& mesh, RanksHere ranks, const MemoryHere& memory) {
  double bytesOfCell = 0.0;
  for (const LabelId label : model.persistent())
    bytesOfCell += static_cast<double>(model.labels().info(label).type.bytes());
  const double own = (mesh.cells * bytesOfCell + mesh.patches * kBytesOfOwnPatch) / ranks.all;
  requireBoth(own + mesh.patches * kBytesOfPatch, ranks, 1.0, memory);
}

}  // namespace

void requireMemory(const Model& model, RanksHere ranks, const MemoryHere& memory) {
  requireForMesh(model, sizeOf(model.settings()), ranks, memory);
}

void requireMemory(const Model& model, const Hierarchy& mesh, RanksHere ranks, const MemoryHere& memory) {
  requireForMesh(model, {static_cast<double>(mesh.cellCount()), static_cast<double>(mesh.patchCount())},
                 ranks, memory);
}

std::int64_t bytesForPatches(const Model& model, RanksHere ranks) {
  // What is made on the way to what stays takes about as much.
  constexpr double kOnTheWay = 2.0;
  const double patches = sizeOf(model.settings()).patches;
  return static_cast<std::int64_t>(kOnTheWay * patches * (kBytesOfOwnPatch / ranks.all + kBytesOfPatch));
}

void requireMemory(const CompiledGraphs& graphs, RanksHere ranks, const MemoryHere& memory) {
  requireBoth(static_cast<double>(memoryPlanOf(graphs).total()), ranks, kUnevenness, memory);
}

}  // namespace tessera
