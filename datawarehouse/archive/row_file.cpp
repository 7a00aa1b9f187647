#include "datawarehouse/archive/row_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <system_error>
#include <unistd.h>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/archive/detail/hdf5_handle.hpp"

namespace tessera {
namespace {

using detail::Handle;

constexpr hsize_t kChunkValues = 1024;

[[noreturn]] void cannotWriteRows(const std::string& name, const std::string& item) {
  throw OutputError("cannot write '" + item + "' of " + name + ": " + detail::hdf5Reason());
}

Handle made(hid_t id, Handle::Close close, const std::string& name, const std::string& item) {
  if (id < 0) cannotWriteRows(name, item);
  return {id, close};
}

Handle createFile(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) != 0 && errno != ENOENT)
    throw OutputError("cannot write " + name + ": " + std::generic_category().message(errno));
  const Handle creation = made(H5Pcreate(H5P_FILE_CREATE), H5Pclose, name, "file");
  H5Pset_obj_track_times(creation.get(), false);
  const Handle access = made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name, "file");
  // Files that are read while they are written need the newer format; older ones have no order of writes.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_file_locking(access.get(), false, true);
  const std::string place = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
  return made(H5Fcreate(place.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose, name, "file");
}

/// A dataset without rows that grows; `columns` 0: of one axis.
Handle createGrowing(const Handle& file, const std::string& name, const std::string& item, hid_t type,
                     std::size_t columns) {
  const std::array<hsize_t, 2> size{0, columns};
  const std::array<hsize_t, 2> most{H5S_UNLIMITED, columns};
  const std::array<hsize_t, 2> chunk{std::max<hsize_t>(1, kChunkValues / std::max<hsize_t>(1, columns)),
                                     columns};
  const int axes = columns == 0 ? 1 : 2;
  const Handle space = made(H5Screate_simple(axes, size.data(), most.data()), H5Sclose, name, item);
  const Handle creation = made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name, item);
  H5Pset_obj_track_times(creation.get(), false);
  H5Pset_chunk(creation.get(), axes, chunk.data());
  return made(
      H5Dcreate2(file.get(), item.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose, name, item);
}

void giveText(const Handle& object, const std::string& name, const char* attribute,
              const std::string& value) {
  const Handle type = made(H5Tcopy(H5T_C_S1), H5Tclose, name, attribute);
  H5Tset_size(type.get(), std::max<std::size_t>(value.size(), 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  const Handle space = made(H5Screate(H5S_SCALAR), H5Sclose, name, attribute);
  const Handle given =
      made(H5Acreate2(object.get(), attribute, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
           name, attribute);
  if (H5Awrite(given.get(), type.get(), value.c_str()) < 0) cannotWriteRows(name, attribute);
}

void giveReals(const Handle& object, const std::string& name, const char* attribute,
               const std::vector<double>& values, hsize_t columns) {
  if (values.empty()) return;
  const std::array<hsize_t, 2> size{values.size() / columns, columns};
  const Handle space =
      made(H5Screate_simple(columns > 1 ? 2 : 1, size.data(), nullptr), H5Sclose, name, attribute);
  const Handle given =
      made(H5Acreate2(object.get(), attribute, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
           H5Aclose, name, attribute);
  if (H5Awrite(given.get(), H5T_NATIVE_DOUBLE, values.data()) < 0) cannotWriteRows(name, attribute);
}

/// One name a line: "axis.000\naxis.001".
std::string linesOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "\n") + name;
  return text;
}

/// Writes row number `row` of a dataset that has fewer; false where HDF5 refuses.
bool append(const Handle& set, hid_t type, hsize_t row, hsize_t columns, const void* values) {
  const std::array<hsize_t, 2> size{row + 1, columns};
  const std::array<hsize_t, 2> start{row, 0};
  const std::array<hsize_t, 2> count{1, columns};
  if (H5Dset_extent(set.get(), size.data()) < 0) return false;
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  const Handle memory(H5Screate_simple(1, &columns, nullptr), H5Sclose);
  return H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >=
             0 &&
         H5Dwrite(set.get(), type, memory.get(), space.get(), H5P_DEFAULT, values) >= 0;
}

}  // namespace

struct RowFile::Parts {
  std::string name;
  std::string failure;
  std::vector<RowArray> arrays;     ///< as they were given
  std::vector<std::size_t> byName;  ///< positions of `arrays`
  std::vector<std::size_t> first;   ///< of `arrays`: where their numbers begin in a row
  Handle file, step, time, dt, sum;
  std::vector<Handle> sets;  ///< of `byName`
  hsize_t rows = 0;
  std::vector<double> sorted;
};

RowFile::RowFile(int folder, std::string name, std::vector<RowArray> arrays)
    : parts_(std::make_unique<Parts>()) {
  const detail::QuietHdf5 quiet;
  Parts& p = *parts_;
  p.name = std::move(name);
  p.arrays = std::move(arrays);
  std::size_t numbers = 0;
  for (const RowArray& array : p.arrays) {
    p.first.push_back(numbers);
    numbers += array.columns.size();
  }
  p.byName.resize(p.arrays.size());
  std::iota(p.byName.begin(), p.byName.end(), std::size_t{0});
  std::sort(p.byName.begin(), p.byName.end(),
            [&](std::size_t a, std::size_t b) { return p.arrays[a].name < p.arrays[b].name; });
  p.file = createFile(folder, p.name);
  p.step = createGrowing(p.file, p.name, "/step", H5T_STD_I64LE, 0);
  p.time = createGrowing(p.file, p.name, "/time", H5T_IEEE_F64LE, 0);
  p.dt = createGrowing(p.file, p.name, "/dt", H5T_IEEE_F64LE, 0);
  p.sum = createGrowing(p.file, p.name, "/crc32c", H5T_STD_U32LE, 0);
  const Handle untimed = made(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, p.name, "/numbers");
  H5Pset_obj_track_times(untimed.get(), false);  // the same numbers give the same bytes
  made(H5Gcreate2(p.file.get(), "/numbers", H5P_DEFAULT, untimed.get(), H5P_DEFAULT), H5Gclose, p.name,
       "/numbers");
  for (const std::size_t n : p.byName) {
    const RowArray& array = p.arrays[n];
    TESSERA_EXPECT(!array.columns.empty(), "an array of a row file has at least one column");
    p.sets.push_back(
        createGrowing(p.file, p.name, "/numbers/" + array.name, H5T_IEEE_F64LE, array.columns.size()));
    giveText(p.sets.back(), p.name, "columns", linesOf(array.columns));
    giveText(p.sets.back(), p.name, "kind", array.kind);
    giveText(p.sets.back(), p.name, "field", array.field);
    giveText(p.sets.back(), p.name, "unit", array.unit);
    giveReals(p.sets.back(), p.name, "places", array.places, 3);
    giveReals(p.sets.back(), p.name, "edges", array.edges, 1);
  }
  if (H5Fstart_swmr_write(p.file.get()) < 0) cannotWriteRows(p.name, "file");
}

RowFile::~RowFile() {
  if (!parts_) return;
  const detail::QuietHdf5 quiet;  // a full disk is a failure that has been told
  parts_.reset();
}

RowFile::RowFile(RowFile&& other) noexcept = default;
RowFile& RowFile::operator=(RowFile&& other) noexcept = default;

const std::string& RowFile::failure() const { return parts_->failure; }

void RowFile::add(std::int64_t step, double time, double dt, std::span<const double> values) {
  Parts& p = *parts_;
  if (!p.failure.empty()) return;
  p.sorted.clear();
  for (const std::size_t n : p.byName) {
    const auto part = values.subspan(p.first[n], p.arrays[n].columns.size());
    p.sorted.insert(p.sorted.end(), part.begin(), part.end());
  }
  copy({step, time, dt, p.sorted});
}

void RowFile::copy(const NumberRow& row) {
  Parts& p = *parts_;
  if (!p.failure.empty()) return;
  const detail::QuietHdf5 quiet;
  const std::uint32_t sum = sumOfRow(row);
  bool good = append(p.time, H5T_NATIVE_DOUBLE, p.rows, 1, &row.time) &&
              append(p.dt, H5T_NATIVE_DOUBLE, p.rows, 1, &row.dt) &&
              append(p.sum, H5T_NATIVE_UINT32, p.rows, 1, &sum);
  const double* next = row.values.data();
  for (std::size_t n = 0; good && n < p.sets.size(); ++n) {
    const std::size_t columns = p.arrays[p.byName[n]].columns.size();
    good = append(p.sets[n], H5T_NATIVE_DOUBLE, p.rows, columns, next);
    next += columns;
  }
  good = good && append(p.step, H5T_NATIVE_INT64, p.rows, 1, &row.step) &&
         H5Fflush(p.file.get(), H5F_SCOPE_LOCAL) >= 0;
  if (!good) p.failure = p.name + " could not be written: " + detail::hdf5Reason();
  ++p.rows;
}

}  // namespace tessera
