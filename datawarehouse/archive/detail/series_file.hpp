#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datawarehouse/archive/detail/posix_file.hpp"

namespace tessera::detail {

/// One line of a .series file, which tells ParaView the time of each output.
struct SeriesEntry {
  std::string file;
  double time = 0.0;
};

/// The entries of a .series text. InputError when it is not one.
std::vector<SeriesEntry> parseSeries(std::string_view text);
std::string formatSeries(const std::vector<SeriesEntry>& entries);

/// Adds `entry` to the series file `name`; entries of the same file, or at or after the same time, go. The
/// file is replaced in one step. A series that cannot be read is begun anew; returns a warning then, else
/// nothing.
std::string extendSeries(const Folder& folder, const std::string& name, const SeriesEntry& entry,
                         const FileOps& ops);

}  // namespace tessera::detail
