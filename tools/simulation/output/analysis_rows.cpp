#include "tools/simulation/output/analysis_rows.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace tessera {
namespace {

const char* const kRows = "analysis.hdf";

std::string unitOf(const LabelTable& labels, const std::string& field) {
  for (LabelId id = 0; id < labels.count(); ++id) {
    const LabelInfo& info = labels.info(id);
    if (info.components.empty() && info.name == field) return info.unit;
    for (std::size_t c = 0; c < info.components.size(); ++c) {
      if (info.nameOf(static_cast<std::int32_t>(c)) == field) return info.components[c].unit;
    }
  }
  return {};
}

/// Takes the columns of [analysis] in their order: regions, probes and lines, profiles.
class ArraysOfModel {
 public:
  explicit ArraysOfModel(const Model& model) : model_(model), columns_(model.analysis().diagnostics()) {}

  std::vector<RowArray> arrays() {
    const AnalysisSettings& settings = model_.analysis().settings();
    for (const AnalysisRegion& region : settings.regions)
      add("region", region.name, region.field, region.quantities.size());
    for (const AnalysisProbe& probe : settings.probes) {
      add(probe.places.size() > 1 ? "line" : "probe", probe.name, probe.field, probe.places.size());
      for (const Real3& place : probe.places)
        for (int d = 0; d < kAxes; ++d) arrays_.back().places.push_back(place[d]);
    }
    for (const AnalysisProfile& profile : settings.profiles) {
      add("profile", profile.name, profile.field, static_cast<std::size_t>(profile.bins));
      for (std::int64_t n = 0; n <= profile.bins; ++n)
        arrays_.back().edges.push_back(profile.radius * static_cast<double>(n) /
                                       static_cast<double>(profile.bins));
    }
    return std::move(arrays_);
  }

 private:
  void add(const char* kind, const std::string& name, const std::string& field, std::size_t count) {
    RowArray array{name, {}, kind, field, model_.settings().units.in(unitOf(model_.labels(), field)), {}, {}};
    for (std::size_t n = 0; n < count; ++n) array.columns.push_back(columns_[next_++].name);
    arrays_.push_back(std::move(array));
  }

  const Model& model_;
  std::vector<Diagnostic> columns_;
  std::size_t next_ = 0;
  std::vector<RowArray> arrays_;
};

/// Throws InputError where a file has other arrays than these.
void requireArrays(const std::string& file, std::vector<RowArray> arrays) {
  std::sort(arrays.begin(), arrays.end(),
            [](const RowArray& a, const RowArray& b) { return a.name < b.name; });
  const std::vector<RowArray> found = rowArraysOf(file);
  const bool same = std::equal(
      found.begin(), found.end(), arrays.begin(), arrays.end(),
      [](const RowArray& a, const RowArray& b) { return a.name == b.name && a.columns == b.columns; });
  if (!same) throw InputError(std::string(kRows) + " has other arrays than the deck asks for");
}

RowFile continued(const FolderHandle& folder, const Model& model, std::int64_t step, bool keepStep) {
  const std::string kept = std::string(kRows) + ".kept";
  const std::vector<RowArray> arrays = ArraysOfModel(model).arrays();
  RowFile file(folder.descriptor(), kept, arrays);
  if (folder.has(kRows)) {
    const std::string earlier = "/proc/self/fd/" + std::to_string(folder.descriptor()) + "/" + kRows;
    requireArrays(earlier, arrays);
    forEachRow(earlier, [&](const NumberRow& row) {
      if (row.step > step || (row.step == step && !keepStep)) return false;
      file.copy(row);
      return true;
    });
  }
  if (!file.failure().empty()) throw OutputError(file.failure());
  folder.rename(kept, kRows);
  return file;
}

}  // namespace

std::size_t AnalysisRows::columnsOf(const Model& model) {
  const Analysis& analysis = model.analysis();
  return analysis.settings().format == AnalysisFormat::Hdf5 ? analysis.diagnostics().size() : 0;
}

AnalysisRows::AnalysisRows(const FolderHandle& folder, const Model& model)
    : file_(folder.descriptor(), kRows, ArraysOfModel(model).arrays()) {}

AnalysisRows::AnalysisRows(const FolderHandle& folder, const Model& model, std::int64_t step, bool keepStep)
    : file_(continued(folder, model, step, keepStep)) {}

}  // namespace tessera
