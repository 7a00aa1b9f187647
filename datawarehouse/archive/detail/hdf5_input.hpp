#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datawarehouse/archive/detail/hdf5_handle.hpp"

namespace tessera::detail {

/// An HDF5 file opened for reading that is not trusted. Only plain things are read: hard links, contiguous
/// datasets inside the file, fixed-length texts; every count is checked against the size of the file first.
/// All members throw InputError naming file and item.
class Hdf5Input {
 public:
  explicit Hdf5Input(const std::string& path);

  std::int64_t fileBytes() const { return fileBytes_; }
  bool has(const std::string& item) const;
  bool hasAttribute(const std::string& object, const std::string& attribute) const;
  /// The names inside a group, sorted.
  std::vector<std::string> members(const std::string& group) const;
  std::string text(const std::string& object, const std::string& attribute) const;
  std::vector<double> reals(const std::string& object, const std::string& attribute, std::size_t count) const;
  std::vector<std::int64_t> integers(const std::string& object, const std::string& attribute) const;
  std::int64_t integer(const std::string& object, const std::string& attribute) const;

  struct Dataset {
    Handle handle;
    std::vector<std::int64_t> extent;
    std::int64_t scalarBytes = 0;
    std::int64_t offset = 0;  ///< of its first byte in the file
  };
  /// Opens a dataset after checking links, storage and size.
  Dataset dataset(const std::string& name) const;
  /// All of a small dataset of whole numbers, row by row.
  std::vector<std::int64_t> allIntegers(const std::string& name, std::int64_t& rows) const;
  /// Rows [first, first + count) of a dataset of reals, all columns.
  std::vector<double> rows(const Dataset& dataset, const std::string& name, std::int64_t first,
                           std::int64_t count) const;

  /// CRC-32C of `bytes` bytes of the file from `offset`.
  std::uint32_t checksum(std::int64_t offset, std::int64_t bytes) const;

  [[noreturn]] void refuse(const std::string& item, const std::string& why) const;

 private:
  void requirePlainLinks(const std::string& item) const;
  Handle openAttribute(const std::string& object, const std::string& name) const;

  std::string path_;
  std::int64_t fileBytes_ = 0;
  Handle file_;
};

}  // namespace tessera::detail
