#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/simulation/run_folder/file_sums.hpp"

namespace tessera {

/// RUN/history.csv or its like: a header, then a line for each due step: step, time, dt and more. Numbers are
/// the shortest texts that read back to the same bits, so that equal runs leave equal files. A disk that is
/// full does not stop a run: `failure` says what was lost. One thread at a time.
class History {
 public:
  /// Begins the file.
  History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns);
  /// Goes on with the file of an earlier run: lines after `step` are cut off, and that of `step` itself
  /// unless `keepStep`. Costs memory for one line.
  History(const FolderHandle& folder, std::string name, const std::vector<std::string>& columns,
          std::int64_t step, bool keepStep);

  void add(std::int64_t step, double time, double dt, std::span<const double> values);
  const std::string& failure() const { return failure_; }
  const FileSum& sum() const { return file_.sum(); }

 private:
  void append(const std::string& text);

  std::string name_;
  SummedFile file_;
  std::string failure_;
};

/// What columns of the history measure, each with its unit ("" where that is not known), into
/// RUN/history.json, so that history.csv stays a plain table: {"units": {"time": "s", "heat.total": "K
/// m^3"}}. Throws OutputError.
void writeHistoryUnits(const FolderHandle& folder,
                       const std::vector<std::pair<std::string, std::string>>& units);

/// The shortest text that reads back to the same bits: "0.1", "nan".
std::string shortestText(double value);

}  // namespace tessera
