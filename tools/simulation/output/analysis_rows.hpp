#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datawarehouse/archive/row_file.hpp"
#include "tools/simulation/model.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {

/// RUN/analysis.hdf: the numbers of the deck's [analysis] where its `format` is "hdf5", a row for each line
/// of the history. For rank 0; one thread at a time.
class AnalysisRows {
 public:
  /// How many columns of a line are those of [analysis] and go here; they are its last ones. 0: none.
  static std::size_t columnsOf(const Model& model);

  /// Begins the file. Throws OutputError.
  AnalysisRows(const FolderHandle& folder, const Model& model);
  /// Goes on with the file of an earlier run, as the history does: rows after `step` are left out, and that
  /// of `step` itself unless `keepStep`. Throws InputError where that file is damaged, and OutputError.
  AnalysisRows(const FolderHandle& folder, const Model& model, std::int64_t step, bool keepStep);

  /// `values`: the columns of [analysis].
  void add(std::int64_t step, double time, double dt, std::span<const double> values) {
    file_.add(step, time, dt, values);
  }
  const std::string& failure() const { return file_.failure(); }

 private:
  RowFile file_;
};

}  // namespace tessera
