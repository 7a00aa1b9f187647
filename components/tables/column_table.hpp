#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Numbers in columns that have names. A plain value.
struct ColumnTable {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;  ///< each with a number for each name
  std::vector<std::int64_t> lines;        ///< of the file, for each row

  /// The number of a column, or -1.
  int column(std::string_view name) const;
};

/// Reads a text file whose first line has the names of the columns, and each other one a number for each of
/// them; empty lines and those that begin with '#' say nothing. Throws InputError naming file and line.
///
///   # air and fuel
///   mixture_fraction  density  temperature
///   0                 1.2      300
///   1                 0.7      300
ColumnTable readColumnTable(const std::filesystem::path& file);

}  // namespace tessera
