#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/field_layout.hpp"
#include "datawarehouse/archive/detail/hdf5_handle.hpp"

namespace tessera::detail {
namespace {

// Builds one file; every failure of HDF5 is an OutputError that names the item.
class LayoutFile {
 public:
  LayoutFile(const std::string& place, const std::string& path) : path_(path) {
    // Without the times of objects the same data give the same bytes, whenever they are written.
    const Handle creation = checked(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "file");
    check(H5Pset_obj_track_times(creation.get(), false), "file");
    const Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "file");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110), "file");
    check(H5Pset_file_locking(access.get(), false, true), "file");
    // The default driver asks for the real path of a file, which one in memory does not have; this one does
    // not.
    check(H5Pset_fapl_stdio(access.get()), "file");
    file_ = checked(H5Fcreate(place.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose, "file");
    groupCreation_ = checked(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "file");
    check(H5Pset_obj_track_times(groupCreation_.get(), false), "file");
    datasetCreation_ = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "file");
    check(H5Pset_obj_track_times(datasetCreation_.get(), false), "file");
    check(H5Pset_layout(datasetCreation_.get(), H5D_CONTIGUOUS), "file");
    check(H5Pset_alloc_time(datasetCreation_.get(), H5D_ALLOC_TIME_EARLY), "file");
    check(H5Pset_fill_time(datasetCreation_.get(), H5D_FILL_TIME_NEVER), "file");
  }

  void group(const std::string& name) {
    checked(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, groupCreation_.get(), H5P_DEFAULT), H5Gclose,
            name);
  }

  void text(const std::string& object, const std::string& name, const std::string& value) {
    // Exactly as long as the text, without a closing NUL: VTK 9.2 accepts nothing else for "Type".
    const Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, name);
    check(H5Tset_size(type.get(), std::max<std::size_t>(value.size(), 1)), name);
    check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), name);
    const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
    attribute(object, name, type.get(), type.get(), space.get(), value.c_str());
  }

  template <class T>
  void numbers(const std::string& object, const std::string& name, const std::vector<T>& values) {
    const hsize_t size = values.size();
    const Handle space = checked(H5Screate_simple(1, &size, nullptr), H5Sclose, name);
    attribute(object, name, fileType(elementTypeOf<T>.scalar), memoryType(elementTypeOf<T>.scalar),
              space.get(), values.data());
  }

  template <class T>
  void number(const std::string& object, const std::string& name, T value) {
    const Handle space = checked(H5Screate(H5S_SCALAR), H5Sclose, name);
    attribute(object, name, fileType(elementTypeOf<T>.scalar), memoryType(elementTypeOf<T>.scalar),
              space.get(), &value);
  }

  // A dataset of `rows` x `columns` (one axis when columns is 0); its space is in the file afterwards.
  Handle dataset(const std::string& name, Scalar scalar, std::int64_t rows, std::int64_t columns) {
    const std::array<hsize_t, 2> size{static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
    const Handle space = checked(H5Screate_simple(columns > 0 ? 2 : 1, size.data(), nullptr), H5Sclose, name);
    return checked(H5Dcreate2(file_.get(), name.c_str(), fileType(scalar), space.get(), H5P_DEFAULT,
                              datasetCreation_.get(), H5P_DEFAULT),
                   H5Dclose, name);
  }

  template <class T>
  void smallDataset(const std::string& name, const std::vector<T>& values, std::int64_t columns) {
    const auto count = static_cast<std::int64_t>(values.size());
    const Handle set = dataset(name, elementTypeOf<T>.scalar, columns > 0 ? count / columns : count, columns);
    check(H5Dwrite(set.get(), memoryType(elementTypeOf<T>.scalar), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   values.data()),
          name);
  }

  void close() {
    if (!file_.reset()) fail("file");
  }

 private:
  [[noreturn]] void fail(const std::string& item) const {
    throw OutputError("cannot write '" + item + "' of " + path_ + ": " + hdf5Reason());
  }
  void check(herr_t status, const std::string& item) const {
    if (status < 0) fail(item);
  }
  Handle checked(hid_t id, Handle::Close close, const std::string& item) const {
    if (id < 0) fail(item);
    return Handle(id, close);
  }
  void attribute(const std::string& object, const std::string& name, hid_t inFile, hid_t inMemory,
                 hid_t space, const void* value) {
    const Handle a = checked(H5Acreate_by_name(file_.get(), object.c_str(), name.c_str(), inFile, space,
                                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose, name);
    check(H5Awrite(a.get(), inMemory, value), name);
  }

  QuietHdf5 quiet_;
  std::string path_;
  Handle file_;
  Handle groupCreation_;
  Handle datasetCreation_;
};

// imin imax jmin jmax kmin kmax, inclusive.
void appendInclusive(std::vector<std::int32_t>& numbers, const Box& box) {
  for (int axis = 0; axis < kAxes; ++axis) {
    numbers.push_back(static_cast<std::int32_t>(box.lo[axis]));
    numbers.push_back(static_cast<std::int32_t>(box.hi[axis] - 1));
  }
}

std::vector<double> threeNumbers(const Real3& x) { return {x.x, x.y, x.z}; }

void describeRun(LayoutFile& file, const FieldOutput& output) {
  const std::string own = "/tessera";
  file.group(own);
  file.numbers<std::int32_t>(own, "format_version", {1, 0});
  file.number(own, "step", output.step);
  file.number(own, "time", output.time);
  file.number(own, "dt", output.dt);
  if (!output.refinementRatio.empty()) file.numbers(own, "refinement_ratio", output.refinementRatio);
  file.numbers<std::int32_t>(own, "periodic", {output.periodic[0], output.periodic[1], output.periodic[2]});
  file.text(own, "code_version", output.codeVersion);
  file.text(own, "git", output.revision);
  file.text(own, "deck_sha256", output.deckSha256);
  file.text(own, "run_id", output.runId);
  file.text(own, "length_unit", output.lengthUnit);
  file.text(own, "time_unit", output.timeUnit);
  file.group(own + "/levels");
  file.group(own + "/fields");
  for (std::size_t n = 0; n < output.fields.size(); ++n) {
    const OutputField& field = output.fields[n];
    const std::string name = own + "/fields/" + field.name;
    file.group(name);
    file.number(name, "order", static_cast<std::int32_t>(n));
    file.number(name, "components", field.components);
    file.number(name, "centering", static_cast<std::int32_t>(field.centering));
    file.text(name, "unit", field.unit);
  }
}

void describeLevel(LayoutFile& file, const OutputLevel& level, std::size_t number) {
  const std::string vtk = vtkLevel(number);
  const std::string own = ownLevel(number);
  file.group(vtk);
  file.numbers(vtk, "Spacing", threeNumbers(level.spacing));
  std::vector<std::int32_t> boxes;
  std::vector<std::int64_t> ids;
  for (const Box& patch : level.patches) {
    ids.push_back(static_cast<std::int64_t>(ids.size()));
    appendInclusive(boxes, patch);
  }
  file.smallDataset(vtk + "/AMRBox", boxes, 6);
  for (const char* group : {"/CellData", "/PointData", "/FieldData"}) file.group(vtk + group);
  file.group(own);
  std::vector<std::int32_t> domain;
  appendInclusive(domain, level.domain);
  file.numbers(own, "domain", domain);
  file.number(own, "boxes_crc32c", static_cast<std::int64_t>(crc32c(std::as_bytes(std::span(boxes)))));
  file.smallDataset(own + "/patch_id", ids, 0);
  file.group(own + "/faces");
}

/// HDF5 does not get over a write that is refused, not even when it is given up; so that may not come to
/// pass.
void requireFileSize(const std::string& path, const FieldOutput& output, FieldPrecision precision,
                     const std::vector<FieldDataset>& datasets) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr double kBytesOfPatch = 64.0;
  constexpr double kBytesOfHead = 65536.0;
  double bytes = kBytesOfHead;
  for (const OutputLevel& level : output.levels)
    bytes += kBytesOfHead + kBytesOfPatch * static_cast<double>(level.patches.size());
  for (const FieldDataset& d : datasets) {
    bytes += 4096.0 + 8.0 * static_cast<double>(d.start.size()) +
             static_cast<double>(d.elements()) * output.fields[d.field].components *
                 (precision == FieldPrecision::Float32 ? 4.0 : 8.0);
  }
  if (bytes <= static_cast<double>(limit.rlim_cur)) return;
  throw IoError(EFBIG, "cannot lay out " + path + " of about " +
                           std::to_string(static_cast<std::int64_t>(bytes)) +
                           " bytes: File too large (raise the file size limit, 'ulimit -f')");
}

}  // namespace

File layOutInMemory(const std::string& path, const FieldOutput& output, FieldPrecision precision,
                    std::vector<FieldDataset>& datasets) {
  requireFileSize(path, output, precision, datasets);
  File image(::memfd_create("tessera-field-layout", MFD_CLOEXEC), path);
  if (image.descriptor() < 0)
    throw IoError(errno, "cannot lay out " + path + ": the system provides no memory file");
  LayoutFile file("/proc/self/fd/" + std::to_string(image.descriptor()), path);
  const std::string vtk = "/VTKHDF";
  file.group(vtk);
  file.numbers<std::int32_t>(vtk, "Version", {1, 0});
  file.text(vtk, "Type", "OverlappingAMR");
  file.text(vtk, "GridDescription", "XYZ");
  file.numbers(vtk, "Origin", threeNumbers(output.origin));
  describeRun(file, output);
  for (std::size_t n = 0; n < output.levels.size(); ++n) describeLevel(file, output.levels[n], n);

  const Scalar scalar = precision == FieldPrecision::Float32 ? Scalar::Float32 : Scalar::Float64;
  for (FieldDataset& d : datasets) {
    const std::int32_t components = output.fields[d.field].components;
    const std::string name = d.group + "/" + d.name;
    const Handle set = file.dataset(name, scalar, d.elements(), components > 1 ? components : 0);
    const haddr_t offset = H5Dget_offset(set.get());
    if (offset == HADDR_UNDEF)
      throw OutputError("HDF5 reports no position in " + path + " for '" + name + "'");
    d.offset = static_cast<std::int64_t>(offset);
  }
  std::int64_t sums = 0;
  for (const FieldDataset& d : datasets) sums += d.patches();
  if (sums > 0) {
    const Handle set = file.dataset(kChecksums, Scalar::Int64, sums, 0);
    auto at = static_cast<std::int64_t>(H5Dget_offset(set.get()));
    for (FieldDataset& d : datasets) {
      d.sumOffset = at;
      at += d.patches() * static_cast<std::int64_t>(sizeof(std::int64_t));
    }
  }
  file.close();
  return image;
}

void copyData(const File& from, const File& to, const FileOps& ops) {
  const std::int64_t size = from.size();
  std::vector<std::byte> buffer;
  std::int64_t at = 0;
  while (at < size) {
    const std::int64_t begin = ::lseek(from.descriptor(), at, SEEK_DATA);
    if (begin < 0) return;  // ENXIO: only a hole is left
    at = ::lseek(from.descriptor(), begin, SEEK_HOLE);
    buffer.resize(static_cast<std::size_t>(at - begin));
    from.readAt(buffer, begin);
    to.writeAt(ops, buffer, begin);
  }
}

}  // namespace tessera::detail
