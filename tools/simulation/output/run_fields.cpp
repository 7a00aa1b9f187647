#include "tools/simulation/output/run_fields.hpp"

#include <algorithm>
#include <cmath>
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

std::vector<Written> writtenOf(const LabelTable& table, const std::vector<PlaneField>& fields) {
  std::vector<Written> written;
  for (const PlaneField& field : fields) {
    if (field.component >= 0) {
      written.push_back({field.label, field.component});
    } else {
      for (const Written& one : writtenOf(table, std::vector<LabelId>{field.label})) written.push_back(one);
    }
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

/// Copies the part of a box from values of all of it, x fastest, the numbers of a cell together.
void copyBox(const Box& from, std::span<const double> values, const Box& part, std::span<double> to,
             std::int64_t together) {
  std::size_t next = 0;
  for (std::int64_t k = part.lo.k; k < part.hi.k; ++k) {
    for (std::int64_t j = part.lo.j; j < part.hi.j; ++j) {
      const std::int64_t row =
          ((k - from.lo.k) * (from.hi.j - from.lo.j) + (j - from.lo.j)) * (from.hi.i - from.lo.i) +
          (part.lo.i - from.lo.i);
      const auto count = static_cast<std::size_t>((part.hi.i - part.lo.i) * together);
      std::copy_n(values.begin() + row * together, count, to.begin() + static_cast<std::ptrdiff_t>(next));
      next += count;
    }
  }
}

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

/// The layers of cells that a plane cuts, by level. Those of coarser levels lie over those of finer ones.
std::vector<std::int64_t> layersOf(const Hierarchy& hierarchy, const AnalysisPlane& plane) {
  const std::span<const Level> levels = hierarchy.levels();
  const Level& finest = levels.back();
  const Box& domain = finest.domain();
  const double way = plane.at - hierarchy.geometry().lower[plane.axis];
  const auto at = static_cast<std::int64_t>(std::floor(way / finest.spacing()[plane.axis]));
  std::vector<std::int64_t> layers(levels.size());
  layers.back() = std::clamp(at, domain.lo[plane.axis], domain.hi[plane.axis] - 1);
  for (std::size_t n = levels.size() - 1; n > 0; --n)
    layers[n - 1] = layers[n] / levels[n].ratioToCoarser()[plane.axis];
  return layers;
}

/// What of a level lies in a layer; `kept` gets the positions of its patches in the level.
OutputLevel layerOf(OutputLevel whole, int axis, std::int64_t layer, std::vector<std::int64_t>& kept) {
  const auto cut = [&](Box box) {
    box.lo[axis] = std::max(box.lo[axis], layer);
    box.hi[axis] = std::min(box.hi[axis], layer + 1);
    return box;
  };
  OutputLevel output;
  output.spacing = whole.spacing;
  output.domain = cut(whole.domain);
  for (std::size_t n = 0; n < whole.patches.size(); ++n) {
    const Box box = cut(whole.patches[n]);
    if (box.empty()) continue;
    const auto position = static_cast<std::int64_t>(n);
    if (std::binary_search(whole.mine.begin(), whole.mine.end(), position))
      output.mine.push_back(static_cast<std::int64_t>(kept.size()));
    kept.push_back(position);
    output.patches.push_back(box);
  }
  return output;
}

/// Along each axis that is resolved; one that is not has 1.
std::int32_t ratioOf(const Level& level) {
  return static_cast<std::int32_t>(largestOf(level.ratioToCoarser()));
}

/// What is the same for all files of a state; the levels are missing.
FieldOutput outputOf(const Simulation& simulation, const std::vector<Written>& written,
                     const std::string& deckSha256) {
  const Model& model = simulation.model();
  FieldOutput output;
  output.step = simulation.clock().step();
  output.time = simulation.clock().time();
  output.dt = simulation.clock().dt();
  output.origin = simulation.hierarchy().geometry().lower;
  output.periodic = simulation.hierarchy().geometry().periodic;
  output.codeVersion = model.identity().codeVersion;
  output.revision = buildInfo().revision;
  output.deckSha256 = deckSha256;
  output.runId = model.runId();
  const UnitNames& units = model.settings().units;
  output.lengthUnit = units.in("length");
  output.timeUnit = units.in("time");
  for (const Written& one : written) {
    const LabelInfo& info = model.labels().info(one.label);
    const auto c = static_cast<std::size_t>(one.component);
    output.fields.push_back({info.nameOf(one.component),
                             units.in(info.components.empty() ? info.unit : info.components[c].unit),
                             info.type.together(), info.centering});
  }
  return output;
}

}  // namespace

FieldWriteResult writeFields(FieldWriter& writer, const Simulation& simulation,
                             const std::vector<LabelId>& labels, const std::string& deckSha256) {
  const Hierarchy& hierarchy = simulation.hierarchy();
  const std::vector<Written> written = writtenOf(simulation.model().labels(), labels);
  FieldOutput output = outputOf(simulation, written, deckSha256);
  for (const Level& level : hierarchy.levels()) {
    if (level.patches().empty()) break;  // so have all finer ones
    output.levels.push_back(levelOf(level, simulation.data()));
    if (level.number() > 0) output.refinementRatio.push_back(ratioOf(level));
  }
  simulation.dataOnHost(labels);
  FieldSource source(simulation, written);
  return writer.write(
      output, [&](std::size_t level, std::int64_t patch, std::size_t field, std::span<double> values) {
        source.fill(field, hierarchy.level(static_cast<LevelId>(level)).firstPatch() + patch, values);
      });
}

FieldWriteResult writePlane(FieldWriter& writer, const Simulation& simulation, const PlaneOfFields& fields,
                            const std::string& deckSha256) {
  const Hierarchy& hierarchy = simulation.hierarchy();
  const std::vector<Written> written = writtenOf(simulation.model().labels(), fields.fields);
  FieldOutput output = outputOf(simulation, written, deckSha256);
  const std::vector<std::int64_t> layers = layersOf(hierarchy, fields.plane);
  std::vector<std::vector<std::int64_t>> kept(layers.size());
  for (const Level& level : hierarchy.levels()) {
    const auto n = static_cast<std::size_t>(level.number());
    OutputLevel cut = layerOf(levelOf(level, simulation.data()), fields.plane.axis, layers[n], kept[n]);
    if (cut.patches.empty()) break;
    output.levels.push_back(std::move(cut));
    if (n > 0) output.refinementRatio.push_back(ratioOf(level));
  }
  std::vector<LabelId> labels;
  for (const PlaneField& field : fields.fields) labels.push_back(field.label);
  simulation.dataOnHost(labels);
  FieldSource source(simulation, written);
  std::vector<double> whole;
  return writer.write(output,
                      [&](std::size_t n, std::int64_t patch, std::size_t field, std::span<double> values) {
                        const Level& level = hierarchy.level(static_cast<LevelId>(n));
                        const PatchId id = level.firstPatch() + kept[n][static_cast<std::size_t>(patch)];
                        const OutputField& about = output.fields[field];
                        const Box all = valueBox(hierarchy.patch(id).cells, about.centering);
                        const Box& cut = output.levels[n].patches[static_cast<std::size_t>(patch)];
                        whole.resize(static_cast<std::size_t>(all.volume() * about.components));
                        source.fill(field, id, whole);
                        copyBox(all, whole, valueBox(cut, about.centering), values, about.components);
                      });
}

}  // namespace tessera
