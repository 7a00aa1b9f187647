#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera {

/// One array of a row file: so many numbers a row, and what they are.
struct RowArray {
  std::string name;                  ///< 1 to 100 letters, digits, '_' and '-'
  std::vector<std::string> columns;  ///< a name for each number
  std::string kind;                  ///< "line"
  std::string field;                 ///< what was looked at: "gas.density"
  std::string unit;                  ///< of that; may be empty
  std::vector<double> places;        ///< three coordinates for each column, or none
  std::vector<double> edges;         ///< of bins, one more than columns, or none
};

/// A row as it is read; the span lives until the next row.
struct NumberRow {
  std::int64_t step = 0;
  double time = 0.0;
  double dt = 0.0;
  std::span<const double> values;  ///< of all arrays, in the order of their names
};

/// Numbers over time in HDF5: /step, /time, /dt with a value for each row, and for each array the dataset
/// /numbers/NAME of rows x columns. /crc32c is over the bytes of a row: step, time, dt, and the arrays in the
/// order of their names. The file can be read while it is written and after its writer was killed ("single
/// writer, multiple readers" of HDF5). Values that cannot be written stop no run: `failure` says so. One
/// thread at a time.
class RowFile {
 public:
  /// Makes the file `name` in an open folder; whatever has that name is removed. Throws OutputError.
  RowFile(int folder, std::string name, std::vector<RowArray> arrays);
  ~RowFile();
  RowFile(RowFile&& other) noexcept;
  RowFile& operator=(RowFile&& other) noexcept;

  /// Appends a row: the numbers of all arrays, in the order in which the arrays were given.
  void add(std::int64_t step, double time, double dt, std::span<const double> values);
  /// Appends a row of another file that has the same arrays.
  void copy(const NumberRow& row);
  const std::string& failure() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The arrays of a file, in the order of their names, without places and edges. Throws InputError naming file
/// and item.
std::vector<RowArray> rowArraysOf(const std::string& path);

/// CRC-32C of a row: step, time, dt, and the numbers in the order of their arrays' names.
std::uint32_t sumOfRow(const NumberRow& row);

/// Visits all rows of a file in their order, or until `visit` says false. Throws InputError for what is
/// damaged, before the damaged row is seen.
void forEachRow(const std::string& path, const std::function<bool(const NumberRow&)>& visit);

}  // namespace tessera
