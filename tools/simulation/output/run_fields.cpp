#include "tools/simulation/output/run_fields.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "core/build_info.hpp"
#include "tools/simulation/output/border_values.hpp"

namespace tessera {
namespace {

template <class T>
void widen(std::span<const std::byte> packed, std::span<double> values) {
  for (std::size_t n = 0; n < values.size(); ++n) {
    T value;
    std::memcpy(&value, packed.data() + n * sizeof(T), sizeof(T));
    values[n] = static_cast<double>(value);
  }
}

void widen(Scalar scalar, std::span<const std::byte> packed, std::span<double> values) {
  switch (scalar) {
    case Scalar::Float32:
      return widen<float>(packed, values);
    case Scalar::Float64:
      return widen<double>(packed, values);
    case Scalar::Int32:
      return widen<std::int32_t>(packed, values);
    case Scalar::Int64:
      return widen<std::int64_t>(packed, values);
  }
}

/// An array of a file: a variable, or one of its components.
struct Written {
  LabelId label = -1;
  std::int32_t component = 0;
};

std::vector<Written> writtenOf(const LabelTable& table, const std::vector<LabelId>& labels) {
  std::vector<Written> written;
  for (const LabelId label : labels) {
    for (std::int32_t c = 0; c < table.info(label).type.planes(); ++c) written.push_back({label, c});
  }
  return written;
}

/// Gives the writer the values of own patches as numbers of double precision.
class FieldSource {
 public:
  FieldSource(const Simulation& simulation, const std::vector<Written>& written)
      : simulation_(simulation), written_(written) {
    const std::span<const PatchId> own = simulation.data().ownPatches();
    for (std::size_t local = 0; local < own.size(); ++local) localOf_[own[local]] = local;
  }

  void fill(std::size_t field, PatchId patch, std::span<double> values) {
    const std::size_t local = localOf_.at(patch);
    const LabelInfo& info = infoOf(field);
    if (info.centering == Centering::Cell) return stored(field, local, values);
    const Patch& where = simulation_.data().hierarchy().patch(patch);
    const Box closed = simulation_.data().hierarchy().level(where.level).closedBox(where, info.centering);
    const std::int64_t components = info.type.together();
    stored_.resize(static_cast<std::size_t>(closed.volume() * components));
    stored(field, local, stored_);
    spreadToValueBox(closed, stored_, valueBox(where.cells, info.centering), values, components);
  }

 private:
  const LabelInfo& infoOf(std::size_t field) const {
    return simulation_.model().labels().info(written_[field].label);
  }

  /// NaN where the variable does not live on the patch's level.
  void stored(std::size_t field, std::size_t local, std::span<double> values) {
    if (!simulation_.data().has(written_[field].label, local)) {
      std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
      return;
    }
    const ElementType type = infoOf(field).type;
    packed_.resize(values.size() * static_cast<std::size_t>(type.scalarBytes()));
    simulation_.data().packComponent(written_[field].label, local, written_[field].component, packed_);
    widen(type.scalar, packed_, values);
  }

  const Simulation& simulation_;
  const std::vector<Written>& written_;
  std::map<PatchId, std::size_t> localOf_;
  std::vector<double> stored_;
  std::vector<std::byte> packed_;
};

OutputLevel levelOf(const Level& level, const DataWarehouse& data) {
  OutputLevel output;
  output.spacing = level.spacing();
  output.domain = level.domain();
  for (const Patch& patch : level.patches()) output.patches.push_back(patch.cells);
  for (const PatchId id : data.ownPatches()) {
    if (id >= 0 && data.hierarchy().patch(id).level == level.number())
      output.mine.push_back(id - level.firstPatch());
  }
  std::sort(output.mine.begin(), output.mine.end());
  return output;
}

/// Along each axis that is resolved; one that is not has 1.
std::int32_t ratioOf(const Level& level) {
  const Extent ratio = level.ratioToCoarser();
  return static_cast<std::int32_t>(std::max({ratio.i, ratio.j, ratio.k}));
}

}  // namespace

FieldWriteResult writeFields(FieldWriter& writer, const Simulation& simulation,
                             const std::vector<LabelId>& labels, const std::string& deckSha256) {
  const Model& model = simulation.model();
  const Hierarchy& hierarchy = simulation.hierarchy();
  FieldOutput output;
  output.step = simulation.clock().step();
  output.time = simulation.clock().time();
  output.dt = simulation.clock().dt();
  output.origin = hierarchy.geometry().lower;
  output.periodic = hierarchy.geometry().periodic;
  output.codeVersion = model.identity().codeVersion;
  output.revision = buildInfo().revision;
  output.deckSha256 = deckSha256;
  output.runId = model.runId();
  for (const Level& level : hierarchy.levels()) {
    output.levels.push_back(levelOf(level, simulation.data()));
    if (level.number() > 0) output.refinementRatio.push_back(ratioOf(level));
  }
  const std::vector<Written> written = writtenOf(model.labels(), labels);
  for (const Written& one : written) {
    const LabelInfo& info = model.labels().info(one.label);
    const auto c = static_cast<std::size_t>(one.component);
    output.fields.push_back({info.nameOf(one.component),
                             info.components.empty() ? info.unit : info.components[c].unit,
                             info.type.together(), info.centering});
  }
  simulation.dataOnHost(labels);
  FieldSource source(simulation, written);
  return writer.write(
      output, [&](std::size_t level, std::int64_t patch, std::size_t field, std::span<double> values) {
        source.fill(field, hierarchy.level(static_cast<LevelId>(level)).firstPatch() + patch, values);
      });
}

}  // namespace tessera
