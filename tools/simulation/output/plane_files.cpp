#include "tools/simulation/output/plane_files.hpp"

namespace tessera {
namespace {

const char* const kFolder = "planes";

FieldWriter::Options planeOptions(const Simulation& simulation, const FolderHandle& place,
                                  const std::string& name) {
  FieldWriter::Options options;
  options.folder = place.path() / kFolder;
  options.parent = place.descriptor();
  options.name = name;
  options.precision = simulation.model().settings().output.doublePrecision ? FieldPrecision::Float64
                                                                           : FieldPrecision::Float32;
  return options;
}

}  // namespace

PlaneFiles::PlaneFiles(const Simulation& simulation, const FolderHandle& place) {
  for (const PlaneOfFields& fields : simulation.model().analysis().planes()) {
    planes_.push_back(
        {fields, FieldWriter(simulation.transport(), planeOptions(simulation, place, fields.plane.name)),
         -1});
  }
}

int PlaneFiles::record(const Simulation& simulation, const std::string& deckSha256, bool always,
                       const Warn& warn) {
  const std::int64_t step = simulation.clock().step();
  int written = 0;
  for (Plane& plane : planes_) {
    if (plane.lastStep == step || !(always || isDue(plane, step))) continue;
    plane.lastStep = step;
    const AnalysisPlane& cut = plane.fields.plane;
    const FieldWriteResult result = writePlane(plane.writer, simulation, plane.fields, deckSha256);
    for (const std::string& warning : result.warnings) warn(warning);
    if (result.written) ++written;
    if (!result.written) {
      warn("the plane \"" + cut.name + "\" of step " + std::to_string(step) +
           " could not be written, the run continues: " + result.failure);
    }
  }
  return written;
}

void PlaneFiles::startAt(std::int64_t step) {
  for (Plane& plane : planes_) plane.lastStep = step;
}

void PlaneFiles::dropAfter(const FolderHandle& place, std::int64_t step) const {
  if (planes_.empty() || !place.has(kFolder)) return;
  const FolderHandle folder = place.inside(kFolder);
  for (const Plane& plane : planes_)
    dropFieldsAfter(folder, plane.fields.plane.name, step, isDue(plane, step));
}

}  // namespace tessera
