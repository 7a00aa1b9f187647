#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datawarehouse/archive/detail/posix_file.hpp"
#include "datawarehouse/archive/field_output.hpp"

namespace tessera::detail {

/// One bulk dataset of a file: one field on one level, as it is shown or, for faces, as it was given.
struct FieldDataset {
  std::string group;  ///< for example "/VTKHDF/Level0/CellData"
  std::string name;
  std::size_t field = 0;
  std::size_t level = 0;
  Centering centering = Centering::Cell;  ///< of the values stored here
  std::vector<std::int64_t> start;        ///< first element of each patch, then the number of elements
  std::int64_t offset = -1;               ///< of its first byte in the file, once that is laid out

  std::int64_t sumOffset = -1;  ///< the same of the checksum of its first patch

  std::int64_t elements() const { return start.back(); }
  std::int64_t patches() const { return static_cast<std::int64_t>(start.size()) - 1; }
};

/// All bulk datasets of an output in the order of the file. UsageError-free: throws OutputError when the
/// output cannot be stored (names, boxes outside of 32 bits, overlapping counts beyond 63 bits).
std::vector<FieldDataset> planDatasets(const FieldOutput& output);

/// Throws OutputError naming what a file of this layout cannot hold.
void checkOutput(const FieldOutput& output);

/// CRC-32C of the bytes of each patch in each bulk dataset, in the order of these, as whole numbers.
inline const char* const kChecksums = "/tessera/crc32c";

/// "/VTKHDF/Level2" and "/tessera/levels/2".
std::string vtkLevel(std::size_t level);
std::string ownLevel(std::size_t level);

/// Builds the file without the bulk values in memory: all groups, attributes and small arrays, and holes
/// where the bulk datasets go, whose offsets are filled in. HDF5 thus never meets a disk that is full. Serial
/// HDF5; the bytes depend on the arguments only. `path` is for messages. Throws OutputError.
File layOutInMemory(const std::string& path, const FieldOutput& output, FieldPrecision precision,
                    std::vector<FieldDataset>& datasets);

/// Copies what is not a hole, at its place.
void copyData(const File& from, const File& to, const FileOps& ops);

}  // namespace tessera::detail
