#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datawarehouse/archive/field_writer.hpp"
#include "tools/simulation/output/run_fields.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {

/// Writes the planes of the deck's `[[analysis.plane]]` into the folder planes/ of a run: files as those of
/// out/, each with the cells that one plane cuts. One object a rank; all ranks call its functions, between
/// steps, in the same order.
class PlaneFiles {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// `place`: the run folder, wherever it is moved; outlives this.
  PlaneFiles(const Simulation& simulation, const FolderHandle& place);

  /// Writes those that are due at this state; `always`: all of them. A plane is written once a step. What
  /// cannot be written is told to `warn`, and the run goes on. Returns how many files are new.
  int record(const Simulation& simulation, const std::string& deckSha256, bool always, const Warn& warn);

  /// What a restart begins with is written already.
  void startAt(std::int64_t step);
  /// Takes away what an abandoned future left after `step`; that of `step` itself stays where it is due.
  /// For rank 0.
  void dropAfter(const FolderHandle& place, std::int64_t step) const;

 private:
  struct Plane {
    PlaneOfFields fields;
    FieldWriter writer;
    std::int64_t lastStep = -1;
  };
  static bool isDue(const Plane& plane, std::int64_t step) {
    return step % plane.fields.plane.everySteps == 0;
  }

  std::vector<Plane> planes_;
};

}  // namespace tessera
