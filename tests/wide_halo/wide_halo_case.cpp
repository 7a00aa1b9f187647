#include "tests/wide_halo/wide_halo_case.hpp"

#include <span>

#include "grid/refined_levels.hpp"
#include "tests/wide_halo/wide_bodies_kernels.hpp"

namespace tessera::bench {
namespace {

std::shared_ptr<const Hierarchy> meshOf(const WideHalo& what) {
  Geometry geometry;
  geometry.periodic = {what.periodic, what.periodic, what.periodic};
  const Division division{Division::By::PatchSize, {what.patch, what.patch, what.patch}};
  if (what.shape == "box") {
    geometry.cells = {what.cells, what.cells, what.cells};
    return Hierarchy::uniform(geometry, division);
  }
  const std::int64_t n = what.cells / 2;  // of level 0
  geometry.cells = {n, n, n};
  RefinedLevel fine;
  fine.patchSize = division.value;
  if (what.shape == "L") {
    fine.boxes = {Box{{0, 0, 0}, {n, n / 2, n}}, Box{{0, n / 2, 0}, {n / 2, n, n}}};
  } else {
    fine.boxes = {Box{{0, n / 4, 0}, {n, 3 * n / 4, n}}, Box{{n / 4, 0, 0}, {3 * n / 4, n / 4, n}},
                  Box{{n / 4, 3 * n / 4, 0}, {3 * n / 4, n, n}}};
  }
  return refinedHierarchy(geometry, division, {fine});
}

}  // namespace

std::string asText(const WideHalo& what) {
  return what.shape + " of " + std::to_string(what.cells) + "^3 cells, halo " +
         (what.halo == kWholeLevel ? "of the whole level" : std::to_string(what.halo)) +
         (what.periodic ? ", periodic" : "") + (what.hostReads ? ", read by the host too" : "");
}

WideHaloCase::WideHaloCase(const WideHalo& what) : what_(what), mesh_(meshOf(what)) {
  labels_.setBoundary(u_, BoundaryConditions::everywhere(BoundaryKind::Outflow));
  initial_.task("Wide::initial").writes(u_).runs(bodyOf(WideInitial{u_}));
  declareStep();
}

void WideHaloCase::declareStep() {
  if (mesh_->levels().size() > 1) {
    step_.task("Wide::keep").on(allButFinest()).reads(Old, u_).writes(u_).runs(bodyOf(WideKeep{u_}));
  }
  TaskBuilder reader = step_.task("Wide::step");
  reader.runs(declareReader(reader, u_));
  if (!what_.hostReads) return;
  TaskBuilder onHost = step_.task("Wide::look");
  TaskBody body = declareReader(onHost, seen_);
  body.device = body.deviceChecked = nullptr;
  onHost.runs(body);
}

TaskBody WideHaloCase::declareReader(TaskBuilder& task, Label<double, Cell> to) const {
  task.on(finestLevel()).writes(to);
  if (what_.halo == kWholeLevel) {
    const std::int64_t low = what_.shape == "plus" ? what_.cells / 4 : 0;  // a bar that the shape covers
    task.reads(Old, u_, wholeLevel());
    return bodyOf(WideTurn{u_, to, what_.cells, low});
  }
  task.reads(Old, u_, halo(what_.halo));
  return bodyOf(WideMean{u_, to, what_.halo});
}

std::vector<LabelId> WideHaloCase::results() const {
  std::vector<LabelId> labels{u_.id};
  if (what_.hostReads) labels.push_back(seen_.id);
  return labels;
}

std::vector<double> WideHaloCase::valuesOn(const DataWarehouse& data, std::size_t local) const {
  std::vector<double> values;
  for (const LabelId label : results()) {
    if (!data.has(label, local)) continue;
    const auto begin = values.size();
    values.resize(begin + static_cast<std::size_t>(data.ownedBox(label, local).volume()));
    data.packOwned(label, local, std::as_writable_bytes(std::span(values).subspan(begin)));
  }
  return values;
}

std::int64_t WideHaloCase::bytesOfLevelCopies() const {
  const Level& level = mesh_->levels().back();
  return std::ssize(level.patches()) * level.cellCount() * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace tessera::bench
