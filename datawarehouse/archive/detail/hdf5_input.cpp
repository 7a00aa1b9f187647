#include "datawarehouse/archive/detail/hdf5_input.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <system_error>

#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/posix_file.hpp"

namespace tessera::detail {
namespace {
constexpr hsize_t kMostMembers = 100000;
constexpr std::size_t kLongestText = std::size_t{1} << 20;
constexpr hssize_t kMostAttributeValues = 1 << 20;
}  // namespace

Hdf5Input::Hdf5Input(const std::string& path) : path_(path) {
  const QuietHdf5 quiet;
  // Filters are libraries that HDF5 would load by the content of a file.
  H5PLset_loading_state(0);
  std::error_code error;
  const bool plain = std::filesystem::is_regular_file(path, error);
  if (!error && !plain) throw InputError(path + " is not a regular file");
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) throw InputError("cannot open " + path + ": " + error.message());
  fileBytes_ = static_cast<std::int64_t>(bytes);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(access.get(), false, true);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file_.valid()) throw InputError("cannot open " + path + " as an HDF5 file: " + hdf5Reason());
}

void Hdf5Input::refuse(const std::string& item, const std::string& why) const {
  throw InputError(
      Message("a field file cannot be used: " + why).line("file  ", path_).line("item  ", item).text());
}

void Hdf5Input::requirePlainLinks(const std::string& item) const {
  for (std::size_t end = item.find('/', 1);; end = item.find('/', end + 1)) {
    const std::string part = item.substr(0, end);
    H5L_info_t info{};
    if (H5Lget_info(file_.get(), part.c_str(), &info, H5P_DEFAULT) < 0) refuse(part, "it has no such item");
    if (info.type != H5L_TYPE_HARD)
      refuse(part, "it has a link that may lead elsewhere, which is not followed");
    if (end == std::string::npos) return;
  }
}

bool Hdf5Input::has(const std::string& item) const {
  const QuietHdf5 quiet;
  for (std::size_t end = item.find('/', 1);; end = item.find('/', end + 1)) {
    if (H5Lexists(file_.get(), item.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

bool Hdf5Input::hasAttribute(const std::string& object, const std::string& attribute) const {
  const QuietHdf5 quiet;
  return H5Aexists_by_name(file_.get(), object.c_str(), attribute.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Hdf5Input::members(const std::string& group) const {
  const QuietHdf5 quiet;
  requirePlainLinks(group);
  const Handle opened(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  H5G_info_t info{};
  if (!opened.valid() || H5Gget_info(opened.get(), &info) < 0) refuse(group, "it is not a group");
  if (info.nlinks > kMostMembers)
    refuse(group, "it has more than " + std::to_string(kMostMembers) + " members");
  std::vector<std::string> names;
  for (hsize_t n = 0; n < info.nlinks; ++n) {
    std::array<char, 256> name{};
    const ssize_t length = H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, n, name.data(),
                                              name.size(), H5P_DEFAULT);
    if (length < 0 || static_cast<std::size_t>(length) >= name.size())
      refuse(group, "the name of a member is too long");
    names.emplace_back(name.data());
  }
  return names;
}

Handle Hdf5Input::openAttribute(const std::string& object, const std::string& name) const {
  requirePlainLinks(object);
  Handle attribute(H5Aopen_by_name(file_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  if (!attribute.valid()) refuse(object + "@" + name, "it has no such attribute");
  return attribute;
}

std::string Hdf5Input::text(const std::string& object, const std::string& attribute) const {
  const QuietHdf5 quiet;
  const Handle opened = openAttribute(object, attribute);
  const Handle type(H5Aget_type(opened.get()), H5Tclose);
  const Handle space(H5Aget_space(opened.get()), H5Sclose);
  const std::size_t size = H5Tget_size(type.get());
  const bool plain = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                     size <= kLongestText && H5Sget_simple_extent_npoints(space.get()) == 1;
  if (!plain) refuse(object + "@" + attribute, "it is not one text of a fixed length");
  std::string value(size, '\0');
  if (H5Aread(opened.get(), type.get(), value.data()) < 0) refuse(object + "@" + attribute, hdf5Reason());
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

std::vector<double> Hdf5Input::reals(const std::string& object, const std::string& attribute,
                                     std::size_t count) const {
  const QuietHdf5 quiet;
  const Handle opened = openAttribute(object, attribute);
  const Handle type(H5Aget_type(opened.get()), H5Tclose);
  const Handle space(H5Aget_space(opened.get()), H5Sclose);
  const bool fits = H5Tget_class(type.get()) == H5T_FLOAT &&
                    H5Sget_simple_extent_npoints(space.get()) == static_cast<hssize_t>(count);
  if (!fits) refuse(object + "@" + attribute, "it does not hold " + std::to_string(count) + " real numbers");
  std::vector<double> values(count);
  if (H5Aread(opened.get(), H5T_NATIVE_DOUBLE, values.data()) < 0)
    refuse(object + "@" + attribute, hdf5Reason());
  return values;
}

std::vector<std::int64_t> Hdf5Input::integers(const std::string& object, const std::string& attribute) const {
  const QuietHdf5 quiet;
  const Handle opened = openAttribute(object, attribute);
  const Handle type(H5Aget_type(opened.get()), H5Tclose);
  const Handle space(H5Aget_space(opened.get()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  const bool fits = H5Tget_class(type.get()) == H5T_INTEGER && count >= 0 && count <= kMostAttributeValues;
  if (!fits) refuse(object + "@" + attribute, "it does not hold whole numbers");
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  if (H5Aread(opened.get(), H5T_NATIVE_INT64, values.data()) < 0)
    refuse(object + "@" + attribute, hdf5Reason());
  return values;
}

std::int64_t Hdf5Input::integer(const std::string& object, const std::string& attribute) const {
  const std::vector<std::int64_t> values = integers(object, attribute);
  if (values.size() != 1) refuse(object + "@" + attribute, "it does not hold one whole number");
  return values.front();
}

Hdf5Input::Dataset Hdf5Input::dataset(const std::string& name) const {
  const QuietHdf5 quiet;
  requirePlainLinks(name);
  Dataset set;
  set.handle = Handle(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.handle.valid()) refuse(name, "it is not a dataset");
  const Handle creation(H5Dget_create_plist(set.handle.get()), H5Pclose);
  const bool plain = H5Pget_layout(creation.get()) == H5D_CONTIGUOUS &&
                     H5Pget_external_count(creation.get()) == 0 && H5Pget_nfilters(creation.get()) == 0;
  if (!plain) refuse(name, "its values are not stored plainly inside the file");
  const Handle type(H5Dget_type(set.handle.get()), H5Tclose);
  const Handle space(H5Dget_space(set.handle.get()), H5Sclose);
  std::array<hsize_t, 2> size{};
  const int axes = H5Sget_simple_extent_ndims(space.get());
  if (axes < 1 || axes > 2) refuse(name, "it has " + std::to_string(axes) + " axes instead of 1 or 2");
  H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
  set.scalarBytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
  std::int64_t bytes = set.scalarBytes;
  for (int n = 0; n < axes; ++n) {
    set.extent.push_back(static_cast<std::int64_t>(size[static_cast<std::size_t>(n)]));
    if (set.extent.back() < 0 || __builtin_mul_overflow(bytes, set.extent.back(), &bytes))
      bytes = fileBytes_ + 1;
  }
  const haddr_t offset = H5Dget_offset(set.handle.get());
  const bool inside = bytes == 0 || (offset != HADDR_UNDEF && bytes <= fileBytes_ &&
                                     offset <= static_cast<haddr_t>(fileBytes_ - bytes));
  if (!inside) refuse(name, "its values do not lie inside the file");
  if (bytes > 0) set.offset = static_cast<std::int64_t>(offset);
  return set;
}

std::uint32_t Hdf5Input::checksum(std::int64_t offset, std::int64_t bytes) const {
  const File file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), path_);
  if (file.descriptor() < 0) throw InputError("cannot open " + path_);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::int64_t>(bytes, 1 << 20)));
  std::uint32_t sum = 0;
  for (std::int64_t done = 0; done < bytes;) {
    const auto wanted = static_cast<std::size_t>(std::min(std::ssize(buffer), bytes - done));
    const std::int64_t read = file.readAt(std::span(buffer).first(wanted), offset + done);
    if (read <= 0) throw InputError(path_ + " became shorter while it was read");
    sum = crc32c(std::span(buffer).first(static_cast<std::size_t>(read)), sum);
    done += read;
  }
  return sum;
}

std::vector<std::int64_t> Hdf5Input::allIntegers(const std::string& name, std::int64_t& rowCount) const {
  const QuietHdf5 quiet;
  const Dataset set = dataset(name);
  const Handle type(H5Dget_type(set.handle.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_INTEGER) refuse(name, "it does not hold whole numbers");
  std::int64_t count = 1;
  for (const std::int64_t n : set.extent) count *= n;
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  if (H5Dread(set.handle.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    refuse(name, hdf5Reason());
  }
  rowCount = set.extent.front();
  return values;
}

std::vector<double> Hdf5Input::rows(const Dataset& set, const std::string& name, std::int64_t first,
                                    std::int64_t count) const {
  const QuietHdf5 quiet;
  const std::int64_t columns = set.extent.size() > 1 ? set.extent[1] : 1;
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(count), static_cast<hsize_t>(columns)};
  const hsize_t total = static_cast<hsize_t>(count * columns);
  const Handle space(H5Dget_space(set.handle.get()), H5Sclose);
  const Handle memory(H5Screate_simple(1, &total, nullptr), H5Sclose);
  std::vector<double> values(static_cast<std::size_t>(total));
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0 ||
      H5Dread(set.handle.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values.data()) <
          0) {
    refuse(name, hdf5Reason());
  }
  return values;
}

}  // namespace tessera::detail
