#include "tools/simulation/output/run_fields.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "core/build_info.hpp"
#include "core/text/contracts.hpp"
#include "grid/rank_map.hpp"
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

/// Gives the writer the values of own patches as numbers of double precision.
class FieldSource {
 public:
  FieldSource(const Simulation& simulation, const std::vector<LabelId>& labels)
      : simulation_(simulation), labels_(labels), bordered_(labels.size()) {
    const std::span<const PatchId> own = simulation.data().ownPatches();
    for (std::size_t local = 0; local < own.size(); ++local) localOf_[own[local]] = local;
  }

  /// Node and face variables need values of neighbours; all ranks call it.
  void gatherBorders() {
    const Hierarchy& hierarchy = *simulation_.model().hierarchy();
    const RankMap owners = distribute(hierarchy, simulation_.transport().size());
    for (std::size_t field = 0; field < labels_.size(); ++field) {
      const LabelInfo& info = infoOf(field);
      if (info.centering == Centering::Cell) continue;
      const BorderValues borders{hierarchy, owners, simulation_.transport(), info.centering,
                                 info.type.components};
      bordered_[field] = borders.gather([&](const Patch& patch) {
        const std::int64_t count = simulation_.data().ownedBox(labels_[field], localOf_[patch.id]).volume();
        std::vector<double> values(static_cast<std::size_t>(count * info.type.components));
        owned(field, localOf_[patch.id], values);
        return values;
      });
    }
  }

  void fill(std::size_t field, PatchId patch, std::span<double> values) {
    const std::size_t local = localOf_.at(patch);
    if (infoOf(field).centering == Centering::Cell) return owned(field, local, values);
    const std::vector<double>& from = bordered_[field][local];
    TESSERA_EXPECT(from.size() == values.size(), "ask for the values of valueBox");
    std::copy(from.begin(), from.end(), values.begin());
  }

 private:
  const LabelInfo& infoOf(std::size_t field) const {
    return simulation_.model().labels().info(labels_[field]);
  }

  /// NaN where the variable does not live on the patch's level.
  void owned(std::size_t field, std::size_t local, std::span<double> values) {
    if (!simulation_.data().has(labels_[field], local)) {
      std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
      return;
    }
    const ElementType type = infoOf(field).type;
    packed_.resize(values.size() * static_cast<std::size_t>(type.scalarBytes()));
    simulation_.data().packOwned(labels_[field], local, packed_);
    widen(type.scalar, packed_, values);
  }

  const Simulation& simulation_;
  const std::vector<LabelId>& labels_;
  std::map<PatchId, std::size_t> localOf_;
  std::vector<std::vector<std::vector<double>>> bordered_;  ///< by field and own patch
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
  const Hierarchy& hierarchy = *model.hierarchy();
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
  for (const LabelId label : labels) {
    const LabelInfo& info = model.labels().info(label);
    output.fields.push_back({info.name, info.unit, info.type.components, info.centering});
  }
  simulation.dataOnHost(labels);
  FieldSource source(simulation, labels);
  source.gatherBorders();
  return writer.write(
      output, [&](std::size_t level, std::int64_t patch, std::size_t field, std::span<double> values) {
        source.fill(field, hierarchy.level(static_cast<LevelId>(level)).firstPatch() + patch, values);
      });
}

}  // namespace tessera
