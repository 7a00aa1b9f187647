#include "datawarehouse/archive/detail/field_layout.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/text/error.hpp"
#include "datawarehouse/archive/detail/posix_file.hpp"

namespace tessera::detail {
namespace {

void requireFits32(const Box& box, const char* what) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::int32_t>::max();
  for (int axis = 0; axis < kAxes; ++axis) {
    if (box.lo[axis] >= -kLimit && box.hi[axis] <= kLimit) continue;
    throw OutputError(
        std::string("the ") + what + " " + asText(box) +
        " does not fit into the 32-bit cell indices of VTKHDF; use fewer than 2^31 cells an axis");
  }
}

void checkField(const OutputField& field, std::set<std::string>& seen) {
  const bool good =
      !field.name.empty() && field.name.size() <= 100 && field.name.front() != '.' &&
      field.name.find('/') == std::string::npos &&
      std::all_of(field.name.begin(), field.name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!good) {
    throw OutputError(
        "the field name '" + field.name +
        "' cannot be used in a file; use 1 to 100 printable characters without '/', no leading dot");
  }
  if (!seen.insert(field.name).second)
    throw OutputError("two output fields are named '" + field.name + "'; rename one");
  if (field.components < 1) throw OutputError("the field '" + field.name + "' has no components");
}

FieldDataset datasetOf(const FieldOutput& output, std::size_t level, std::size_t field, std::string group,
                       Centering centering) {
  FieldDataset dataset{std::move(group), output.fields[field].name, field, level, centering, {0}, -1};
  for (const Box& patch : output.levels[level].patches) {
    dataset.start.push_back(dataset.start.back() + valueBox(patch, centering).volume());
  }
  return dataset;
}

bool isFace(Centering c) { return c != Centering::Cell && c != Centering::Node; }

}  // namespace

std::string vtkLevel(std::size_t level) { return "/VTKHDF/Level" + std::to_string(level); }
std::string ownLevel(std::size_t level) { return "/tessera/levels/" + std::to_string(level); }

void checkOutput(const FieldOutput& output) {
  if (output.levels.empty()) throw OutputError("an output without a level cannot be written");
  if (output.refinementRatio.size() + 1 != output.levels.size()) {
    throw OutputError("an output needs one refinement ratio for each level above 0");
  }
  for (const OutputLevel& level : output.levels) {
    if (level.patches.empty()) throw OutputError("an output level without patches cannot be written");
    requireFits32(level.domain, "domain");
    for (const Box& patch : level.patches) {
      requireFits32(patch, "patch");
      if (patch.empty()) throw OutputError("an empty patch cannot be written");
    }
  }
  std::set<std::string> seen;
  for (const OutputField& field : output.fields) checkField(field, seen);
}

std::vector<FieldDataset> planDatasets(const FieldOutput& output) {
  std::vector<FieldDataset> all;
  for (std::size_t level = 0; level < output.levels.size(); ++level) {
    for (std::size_t f = 0; f < output.fields.size(); ++f) {
      const Centering centering = output.fields[f].centering;
      const Centering shown = centering == Centering::Node ? Centering::Node : Centering::Cell;
      const char* group = shown == Centering::Node ? "/PointData" : "/CellData";
      all.push_back(datasetOf(output, level, f, vtkLevel(level) + group, shown));
      if (isFace(centering))
        all.push_back(datasetOf(output, level, f, ownLevel(level) + "/faces", centering));
    }
  }
  return all;
}

}  // namespace tessera::detail
