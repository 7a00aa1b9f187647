#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/ensemble/ensemble_plan.hpp"

namespace tessera::ensemble {

/// How one task of a stage ended.
struct Row {
  static constexpr std::size_t kResults = 6;
  std::int64_t index = -1;
  std::int32_t status = 0;  ///< of TaskStatus
  std::uint32_t code = 0;
  double results[kResults] = {};
};

/// The file of a stage's results, RUN/STAGE.csv: a header, then a line for each task. While the stage runs,
/// lines are added in the order in which tasks end, so an interrupted stage keeps what it has; at its end the
/// file is put in the order of the tasks, and is then the same for any number of ranks and workers. One
/// thread of one rank.
class StageResults {
 public:
  /// Reads what an interrupted run has left. Throws InputError where the file is not of this stage.
  StageResults(const std::filesystem::path& folder, const Stage& stage);

  bool isDone(std::int64_t index) const { return done_[static_cast<std::size_t>(index)]; }
  std::int64_t doneCount() const { return doneCount_; }
  void add(const Row& row);
  /// Puts the file in order. Throws OutputError where it cannot be written.
  void finish();

 private:
  std::string header() const;
  std::string line(const Row& row) const;
  void read();

  std::filesystem::path path_;
  const Stage& stage_;
  std::ofstream file_;
  std::vector<bool> done_;
  std::int64_t doneCount_ = 0;
};

}  // namespace tessera::ensemble
