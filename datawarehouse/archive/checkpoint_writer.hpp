#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/fault_point.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/archive/checkpoint_content.hpp"

namespace tessera {

/// How one attempt to write a checkpoint ended; equal on every rank.
struct CheckpointResult {
  bool committed = false;
  std::filesystem::path path;         ///< the committed folder, for example "RUN/checkpoints/ckpt-000120"
  std::string failure;                ///< a sentence naming rank, operation and reason when not committed
  std::int64_t bytes = 0;             ///< size of all rank files
  std::vector<std::string> warnings;  ///< for example: an old generation that could not be deleted
};

/// Writes checkpoints that are all or nothing: after a crash at any instant the newest committed one loads.
///
/// Every rank writes its own file into `ckpt-000120.tmp`; rank 0 adds the manifest and renames the folder
/// once all ranks report success. A failure on any rank (disk full, I/O error, fsync) is agreed by all, the
/// temporary folder is removed and older checkpoints stay as they are. No rank can hang on another's failure.
///
///   CheckpointWriter writer(transport, {.folder = run / "checkpoints"});
///   const CheckpointResult result = writer.write(step, identity, state, blocksOfThisRank);
///   if (!result.committed) log.warn(result.failure);
///
/// Thread rule: called by all ranks together, outside of a step (it uses the blocking collectives).
class CheckpointWriter {
 public:
  struct Options {
    std::filesystem::path folder;  ///< made when missing; shared by all ranks
    int parent =
        -1;        ///< descriptor of the folder around it, which may be moved meanwhile; -1: as the path says
    int keep = 2;  ///< committed generations that stay, >= 2
    FaultPlan* faults = nullptr;  ///< tests only; points "checkpoint.open", ".write", ".fsync", ".rename" ...
  };

  CheckpointWriter(Transport& transport, Options options);

  /// Never throws for a failure to write; see CheckpointResult. A checkpoint of the same step that is there
  /// already (a restart that went back) is replaced.
  CheckpointResult write(std::int64_t step, const CheckpointIdentity& identity, const CheckpointState& state,
                         const CheckpointBlocks& mine);

 private:
  Transport& transport_;
  Options options_;
};

}  // namespace tessera
