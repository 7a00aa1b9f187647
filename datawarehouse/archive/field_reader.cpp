#include "datawarehouse/archive/field_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/field_layout.hpp"
#include "datawarehouse/archive/detail/hdf5_input.hpp"

namespace tessera {
namespace {

using namespace detail;

Real3 asReal3(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

// From imin imax jmin jmax kmin kmax, inclusive; the numbers are 32-bit in the file.
Box fromInclusive(const std::int64_t* n) { return {{n[0], n[2], n[4]}, {n[1] + 1, n[3] + 1, n[5] + 1}}; }

void readRun(const Hdf5Input& file, FieldOutput& header) {
  const std::string own = "/tessera";
  const auto version = file.integers(own, "format_version");
  if (version.empty() || version.front() != 1) {
    file.refuse(own + "@format_version",
                "it has format version " +
                    (version.empty() ? std::string("none") : std::to_string(version.front())) +
                    ", this program reads version 1");
  }
  header.step = file.integer(own, "step");
  header.time = file.reals(own, "time", 1).front();
  header.dt = file.reals(own, "dt", 1).front();
  const auto periodic = file.integers(own, "periodic");
  if (periodic.size() != header.periodic.size()) file.refuse(own + "@periodic", "it does not hold 3 numbers");
  for (std::size_t axis = 0; axis < header.periodic.size(); ++axis)
    header.periodic[axis] = periodic[axis] != 0;
  header.codeVersion = file.text(own, "code_version");
  header.revision = file.text(own, "git");
  header.deckSha256 = file.text(own, "deck_sha256");
  header.runId = file.text(own, "run_id");
  header.origin = asReal3(file.reals("/VTKHDF", "Origin", 3));
}

void readFields(const Hdf5Input& file, FieldOutput& header) {
  const std::string own = "/tessera/fields";
  const std::vector<std::string> names = file.members(own);
  header.fields.resize(names.size());
  for (const std::string& name : names) {
    const std::string item = own + "/" + name;
    const std::int64_t order = file.integer(item, "order");
    const std::int64_t components = file.integer(item, "components");
    const std::int64_t centering = file.integer(item, "centering");
    const bool good = order >= 0 && order < static_cast<std::int64_t>(names.size()) && components >= 1 &&
                      components <= (1 << 20) && centering >= 0 &&
                      centering <= static_cast<int>(Centering::FaceZ);
    if (!good) file.refuse(item, "its order, components or centering are not possible");
    OutputField& field = header.fields[static_cast<std::size_t>(order)];
    if (!field.name.empty()) file.refuse(item, "two fields have the same order");
    field = {name, file.text(item, "unit"), static_cast<std::int32_t>(components),
             static_cast<Centering>(centering)};
  }
}

OutputLevel readLevel(const Hdf5Input& file, std::size_t number) {
  OutputLevel level;
  const std::string boxesName = vtkLevel(number) + "/AMRBox";
  level.spacing = asReal3(file.reals(vtkLevel(number), "Spacing", 3));
  const auto domain = file.integers(ownLevel(number), "domain");
  if (domain.size() != 6) file.refuse(ownLevel(number) + "@domain", "it does not hold 6 numbers");
  level.domain = fromInclusive(domain.data());
  std::int64_t rows = 0;
  const auto numbers = file.allIntegers(boxesName, rows);
  if (rows < 1 || static_cast<std::int64_t>(numbers.size()) != 6 * rows)
    file.refuse(boxesName, "it is not a list of boxes");
  if (file.hasAttribute(ownLevel(number), "boxes_crc32c")) {
    const std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
    if (file.integer(ownLevel(number), "boxes_crc32c") != crc32c(std::as_bytes(std::span(narrow))))
      file.refuse(boxesName, "its boxes changed after they were written");
  }
  std::int64_t cells = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const Box patch = fromInclusive(numbers.data() + 6 * r);
    for (int axis = 0; axis < kAxes; ++axis) {
      // A box of more cells on one axis than the file has bytes is not in this file; so no product overflows.
      const std::int64_t n = patch.extent()[axis];
      if (n < 1 || n > file.fileBytes())
        file.refuse(boxesName, "box " + std::to_string(r) + " is not possible");
    }
    const Extent n = patch.extent();
    std::int64_t volume = 0;
    if (__builtin_mul_overflow(n.i, n.j, &volume) || __builtin_mul_overflow(volume, n.k, &volume) ||
        volume > file.fileBytes() - cells) {
      file.refuse(boxesName, "its boxes have more cells than the file has bytes");
    }
    cells += volume;
    level.patches.push_back(patch);
  }
  return level;
}

void readLevels(const Hdf5Input& file, FieldOutput& header) {
  const std::size_t count = file.members("/tessera/levels").size();
  if (count == 0) file.refuse("/tessera/levels", "it has no level");
  for (std::size_t n = 0; n < count; ++n) header.levels.push_back(readLevel(file, n));
  if (count == 1) return;
  const auto ratios = file.integers("/tessera", "refinement_ratio");
  if (ratios.size() + 1 != count)
    file.refuse("/tessera@refinement_ratio", "it needs one number for each level above 0");
  for (const std::int64_t ratio : ratios) header.refinementRatio.push_back(static_cast<std::int32_t>(ratio));
}

}  // namespace

struct FieldReader::Content {
  std::filesystem::path path;
  Hdf5Input file;
  FieldOutput header;
  FieldPrecision precision = FieldPrecision::Float32;
  std::vector<FieldDataset> datasets;
  std::vector<std::int64_t> sums;
  std::int64_t firstSums = 0;

  explicit Content(const std::filesystem::path& where) : path(where), file(where.string()) {
    readRun(file, header);
    readFields(file, header);
    readLevels(file, header);
    datasets = planDatasets(header);
    for (const FieldDataset& d : datasets) checkDataset(d);
    readChecksums();
  }

  /// Files of version 0.1 have none.
  void readChecksums() {
    if (!file.has(kChecksums)) return;
    std::int64_t count = 0;
    sums = file.allIntegers(kChecksums, count);
    for (FieldDataset& d : datasets) {
      d.sumOffset = firstSums;
      firstSums += d.patches();
    }
    if (static_cast<std::int64_t>(sums.size()) != firstSums)
      file.refuse(kChecksums, "it does not have a checksum for each patch of each field");
  }

  void verify(const FieldDataset& d, const Hdf5Input::Dataset& set, std::size_t patch) const {
    if (sums.empty()) return;
    const std::int64_t row = set.scalarBytes * header.fields[d.field].components;
    const std::int64_t expected = sums[static_cast<std::size_t>(d.sumOffset) + patch];
    const std::int64_t found =
        file.checksum(set.offset + d.start[patch] * row, (d.start[patch + 1] - d.start[patch]) * row);
    if (found == expected) return;
    file.refuse(nameOf(d), "its values of patch " + std::to_string(patch) +
                               " changed after they were written, CRC32C " + std::to_string(found) +
                               " instead of " + std::to_string(expected));
  }

  static std::string nameOf(const FieldDataset& d) { return d.group + "/" + d.name; }

  void checkDataset(const FieldDataset& d) {
    const Hdf5Input::Dataset found = file.dataset(nameOf(d));
    const std::int64_t components = header.fields[d.field].components;
    std::vector<std::int64_t> expected{d.elements()};
    if (components > 1) expected.push_back(components);
    if (found.extent != expected)
      file.refuse(nameOf(d), "it does not have one entry for each value of its patches");
    const Handle type(H5Dget_type(found.handle.get()), H5Tclose);
    if (H5Tget_class(type.get()) != H5T_FLOAT) file.refuse(nameOf(d), "it does not hold real numbers");
    precision = found.scalarBytes > 4 ? FieldPrecision::Float64 : FieldPrecision::Float32;
  }

  const FieldDataset& datasetOf(std::size_t field, std::size_t level) const {
    const auto found = std::find_if(datasets.begin(), datasets.end(), [&](const FieldDataset& d) {
      return d.field == field && d.level == level && d.centering == header.fields[field].centering;
    });
    TESSERA_EXPECT(found != datasets.end(), "ask for a level that the file has");
    return *found;
  }
};

FieldReader::FieldReader(std::unique_ptr<Content> content) : content_(std::move(content)) {}
FieldReader::~FieldReader() = default;
FieldReader::FieldReader(FieldReader&&) noexcept = default;
FieldReader& FieldReader::operator=(FieldReader&&) noexcept = default;

FieldReader FieldReader::open(const std::filesystem::path& file) {
  return FieldReader(std::make_unique<Content>(file));
}

const std::filesystem::path& FieldReader::path() const { return content_->path; }
const FieldOutput& FieldReader::header() const { return content_->header; }
FieldPrecision FieldReader::precision() const { return content_->precision; }

std::vector<double> FieldReader::values(std::size_t field, std::size_t level, std::int64_t patch) const {
  TESSERA_EXPECT(field < header().fields.size(), "ask for a field that the file has");
  const FieldDataset& d = content_->datasetOf(field, level);
  const auto n = static_cast<std::size_t>(patch);
  TESSERA_EXPECT(patch >= 0 && n + 1 < d.start.size(), "ask for a patch that the level has");
  const std::string name = Content::nameOf(d);
  const Hdf5Input::Dataset set = content_->file.dataset(name);
  content_->verify(d, set, n);
  return content_->file.rows(set, name, d.start[n], d.start[n + 1] - d.start[n]);
}

}  // namespace tessera
