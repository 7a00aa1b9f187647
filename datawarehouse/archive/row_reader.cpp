#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/hdf5_handle.hpp"
#include "datawarehouse/archive/row_file.hpp"

namespace tessera {
namespace {

using detail::Handle;

constexpr hsize_t kMostArrays = 10000;
constexpr hsize_t kMostColumns = 1000000;
constexpr hsize_t kRowsAtOnce = 256;
/// HDF5 reads again, after waits that double from a nanosecond, where a writer may be about to finish an
/// item: with twenty it gives up on a damaged one after a millisecond, with its usual hundred never.
constexpr unsigned kReadAttempts = 20;
constexpr std::size_t kMostText = std::size_t{1} << 24;

/// A dataset that is open.
struct RowSet {
  std::string name;
  Handle set;
  hsize_t columns = 1;
  hsize_t rows = 0;
};

/// A row file that is read and not trusted.
class RowInput {
 public:
  explicit RowInput(const std::string& path) : path_(path) {
    H5PLset_loading_state(0);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) throw InputError("there is no file " + path);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access.get(), false, true);
    H5Pset_metadata_read_attempts(access.get(), kReadAttempts);
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.get()), H5Fclose);
    if (!file_.valid()) throw InputError("cannot open " + path + " as an HDF5 file: " + detail::hdf5Reason());
  }

  [[noreturn]] void refuse(const std::string& item, const std::string& why) const {
    throw InputError(
        Message("a file of rows cannot be used: " + why).line("file  ", path_).line("item  ", item).text());
  }

  std::vector<RowArray> arrays() const {
    const Handle group(H5Gopen2(file_.get(), "/numbers", H5P_DEFAULT), H5Gclose);
    H5G_info_t info{};
    if (!group.valid() || H5Gget_info(group.get(), &info) < 0) refuse("/numbers", "it is not a group");
    if (info.nlinks > kMostArrays) refuse("/numbers", "it has more arrays than a deck can ask for");
    std::vector<RowArray> found;
    for (hsize_t n = 0; n < info.nlinks; ++n) {
      std::array<char, 256> name{};
      const ssize_t length = H5Lget_name_by_idx(group.get(), ".", H5_INDEX_NAME, H5_ITER_INC, n, name.data(),
                                                name.size(), H5P_DEFAULT);
      if (length < 0 || static_cast<std::size_t>(length) >= name.size())
        refuse("/numbers", "the name of an array is too long");
      found.push_back(arrayOf(name.data()));
    }
    return found;
  }

  /// Steps, times, their lengths, checksums, and the arrays.
  std::vector<RowSet> sets(const std::vector<RowArray>& arrays) const {
    std::vector<RowSet> found;
    for (const char* name : {"/step", "/time", "/dt", "/crc32c"}) found.push_back(setOf(name, 0));
    for (const RowArray& array : arrays)
      found.push_back(setOf("/numbers/" + array.name, array.columns.size()));
    return found;
  }

  /// Rows [first, first + count) of all columns, as `type`.
  void read(const RowSet& from, hid_t type, hsize_t first, hsize_t count, void* values) const {
    const std::array<hsize_t, 2> start{first, 0};
    const std::array<hsize_t, 2> size{count, from.columns};
    const hsize_t total = count * from.columns;
    const Handle space(H5Dget_space(from.set.get()), H5Sclose);
    const Handle memory(H5Screate_simple(1, &total, nullptr), H5Sclose);
    const bool good =
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
        H5Dread(from.set.get(), type, memory.get(), space.get(), H5P_DEFAULT, values) >= 0;
    if (!good) refuse(from.name, detail::hdf5Reason());
  }

 private:
  Handle open(const std::string& name) const {
    H5L_info_t info{};
    if (H5Lget_info(file_.get(), name.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      refuse(name, "it is not there");
    Handle set(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.valid()) refuse(name, "it is not a dataset");
    return set;
  }

  /// `columns` 0: of one axis.
  RowSet setOf(const std::string& name, hsize_t columns) const {
    Handle set = open(name);
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    std::array<hsize_t, 2> size{};
    const int axes = H5Sget_simple_extent_ndims(space.get());
    if (axes != (columns == 0 ? 1 : 2)) refuse(name, "it has " + std::to_string(axes) + " axes");
    H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
    if (columns > 0 && size[1] != columns) refuse(name, "its columns are not those of its names");
    return {name, std::move(set), std::max<hsize_t>(columns, 1), size[0]};
  }

  std::string text(const Handle& set, const std::string& item, const char* attribute) const {
    const Handle given(H5Aopen(set.get(), attribute, H5P_DEFAULT), H5Aclose);
    if (!given.valid()) refuse(item, "it has no attribute '" + std::string(attribute) + "'");
    const Handle type(H5Aget_type(given.get()), H5Tclose);
    const Handle space(H5Aget_space(given.get()), H5Sclose);
    const std::size_t size = H5Tget_size(type.get());
    const bool plain = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                       size <= kMostText && H5Sget_simple_extent_npoints(space.get()) == 1;
    if (!plain) refuse(item, "its attribute '" + std::string(attribute) + "' is not a plain text");
    std::string value(size, '\0');
    if (H5Aread(given.get(), type.get(), value.data()) < 0) refuse(item, detail::hdf5Reason());
    value.resize(std::min(value.find('\0'), value.size()));
    return value;
  }

  RowArray arrayOf(const std::string& name) const {
    const std::string item = "/numbers/" + name;
    const Handle set = open(item);
    RowArray array{name, {}, text(set, item, "kind"), text(set, item, "field"), text(set, item, "unit"),
                   {},   {}};
    std::istringstream columns(text(set, item, "columns"));
    for (std::string column; std::getline(columns, column);) array.columns.push_back(column);
    if (array.columns.empty() || array.columns.size() > kMostColumns)
      refuse(item, "it has " + std::to_string(array.columns.size()) + " columns");
    return array;
  }

  std::string path_;
  Handle file_;
};

/// Some rows of all datasets at a time.
struct RowBlock {
  std::vector<std::int64_t> steps;
  std::vector<double> times, dts;
  std::vector<std::uint32_t> sums;
  std::vector<std::vector<double>> arrays;

  void read(const RowInput& input, const std::vector<RowSet>& sets, hsize_t first, hsize_t count) {
    steps.resize(count);
    times.resize(count);
    dts.resize(count);
    sums.resize(count);
    arrays.resize(sets.size() - 4);
    input.read(sets[0], H5T_NATIVE_INT64, first, count, steps.data());
    input.read(sets[1], H5T_NATIVE_DOUBLE, first, count, times.data());
    input.read(sets[2], H5T_NATIVE_DOUBLE, first, count, dts.data());
    input.read(sets[3], H5T_NATIVE_UINT32, first, count, sums.data());
    for (std::size_t n = 0; n < arrays.size(); ++n) {
      arrays[n].resize(count * sets[4 + n].columns);
      input.read(sets[4 + n], H5T_NATIVE_DOUBLE, first, count, arrays[n].data());
    }
  }
};

}  // namespace

std::uint32_t sumOfRow(const NumberRow& row) {
  std::uint32_t sum = crc32c(std::as_bytes(std::span(&row.step, 1)));
  sum = crc32c(std::as_bytes(std::span(&row.time, 1)), sum);
  sum = crc32c(std::as_bytes(std::span(&row.dt, 1)), sum);
  return crc32c(std::as_bytes(row.values), sum);
}

std::vector<RowArray> rowArraysOf(const std::string& path) {
  const detail::QuietHdf5 quiet;
  return RowInput(path).arrays();
}

void forEachRow(const std::string& path, const std::function<bool(const NumberRow&)>& visit) {
  const detail::QuietHdf5 quiet;
  const RowInput input(path);
  const std::vector<RowSet> sets = input.sets(input.arrays());
  // A row that is being written is in some of them only.
  const auto fewer = [](const RowSet& a, const RowSet& b) { return a.rows < b.rows; };
  const hsize_t rows = std::min_element(sets.begin(), sets.end(), fewer)->rows;
  RowBlock block;
  std::vector<double> values;
  for (hsize_t first = 0; first < rows; first += kRowsAtOnce) {
    const hsize_t count = std::min(kRowsAtOnce, rows - first);
    block.read(input, sets, first, count);
    for (hsize_t row = 0; row < count; ++row) {
      values.clear();
      for (const std::vector<double>& array : block.arrays) {
        const std::size_t columns = array.size() / count;
        const auto begin = array.begin() + static_cast<std::ptrdiff_t>(row * columns);
        values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
      }
      const NumberRow found{block.steps[row], block.times[row], block.dts[row], values};
      if (sumOfRow(found) != block.sums[row])
        input.refuse("row " + std::to_string(first + row), "its checksum is not that of its values");
      if (!visit(found)) return;
    }
  }
}

}  // namespace tessera
