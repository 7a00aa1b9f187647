#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "datawarehouse/archive/field_output.hpp"

namespace tessera {

/// Reads a file of `FieldWriter` into memory. The file is not trusted: no filter plugins, no external links
/// or storage, and every count is checked against the size of the file. Errors: InputError naming the file
/// and the item. Each patch of each field has a checksum, which `values` compares. Thread rule: one thread at
/// a time (serial HDF5).
class FieldReader {
 public:
  static FieldReader open(const std::filesystem::path& file);
  ~FieldReader();
  FieldReader(FieldReader&&) noexcept;
  FieldReader& operator=(FieldReader&&) noexcept;

  const std::filesystem::path& path() const;
  /// Step, time, geometry, levels and fields as they were written; `mine` names no patch.
  const FieldOutput& header() const;
  FieldPrecision precision() const;
  /// The values of field number `field` on patch number `patch`, in the order of FillPatch. Face fields give
  /// the faces' own values.
  std::vector<double> values(std::size_t field, std::size_t level, std::int64_t patch) const;

 private:
  struct Content;
  explicit FieldReader(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace tessera
