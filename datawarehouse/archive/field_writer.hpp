#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/fault_point.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/archive/field_output.hpp"

namespace tessera {

/// How one attempt to write fields ended; equal on every rank.
struct FieldWriteResult {
  bool written = false;
  std::filesystem::path path;  ///< for example "RUN/out/fields_000120.hdf"
  std::string failure;         ///< a sentence naming rank, operation and reason when not written
  std::int64_t bytes = 0;      ///< size of the file
  std::vector<std::string> warnings;
};

/// Writes `fields_000120.hdf` (VTKHDF OverlappingAMR, opens in ParaView >= 5.11) and `fields.hdf.series`.
///
/// The bytes of a file depend on the data only, not on the number of ranks or the time of day. Rank 0 lays
/// the file out with serial HDF5, then every rank writes its patches at their byte offsets: no collective
/// operation is in flight while the disk can fail (docs/decisions/0002). A failure on any rank (disk full)
/// is agreed by all, the unfinished file is removed and the run can go on.
///
///   FieldWriter writer(transport, {.folder = run / "out"});
///   const FieldWriteResult result = writer.write(output, fill);
///
/// Thread rule: called by all ranks together, outside of a step (it uses the blocking collectives).
class FieldWriter {
 public:
  struct Options {
    std::filesystem::path folder;  ///< made when missing; shared by all ranks
    int parent =
        -1;  ///< descriptor of the folder around it, which may be moved meanwhile; -1: as the path says
    std::string name = "fields";  ///< start of the file names: [A-Za-z0-9._-], no leading dot
    FieldPrecision precision = FieldPrecision::Float32;
    FaultPlan* faults = nullptr;  ///< tests only; points "output.create", ".allocate", ".write", ".fsync" ...
  };

  FieldWriter(Transport& transport, Options options);

  /// Never throws for a failure to write; see FieldWriteResult. A file of the same step is replaced; entries
  /// of the series at or after this time (an abandoned future before a restart) are dropped from it.
  FieldWriteResult write(const FieldOutput& output, const FillPatch& fill);

 private:
  Transport& transport_;
  Options options_;
};

}  // namespace tessera
