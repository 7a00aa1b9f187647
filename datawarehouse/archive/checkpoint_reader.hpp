#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datawarehouse/archive/checkpoint_content.hpp"

namespace tessera {

/// One folder `ckpt-NNNNNN` as `listCheckpoints` finds it.
struct CheckpointListing {
  std::filesystem::path path;
  std::int64_t step = -1;
  std::int64_t sequence = -1;  ///< counts up with every checkpoint of a run, also over restarts
  std::filesystem::file_time_type written{};  ///< when its files were made
  double time = 0.0;                          ///< the state's "time", 0 when there is none
  bool valid = false;   ///< manifest verified, all rank files there, with the right size and identity
  std::string problem;  ///< why it is not valid
};

/// The committed checkpoints of a folder: valid ones first, newest first (by the order of writing, not by
/// step, so that a restart which went back is continued, not its abandoned future). Temporary folders are not
/// listed. An empty or missing folder gives an empty list.
std::vector<CheckpointListing> listCheckpoints(const std::filesystem::path& folder);

/// Whether a checkpoint can be read and all its values are as they were written; reads them all.
bool isWhole(const std::filesystem::path& checkpoint);

/// Reads one checkpoint; any rank may read any block, so the number of ranks may differ from the writing run.
///
///   const auto reader = CheckpointReader::open(listCheckpoints(folder).front().path);
///   reader.requireSame(identityOfThisRun);
///   reader.readBlock("temperature", level, patch, bytes);
///
/// Errors: InputError naming file, block, byte offset, expected and found, and the older checkpoint to use.
/// Thread rule: const members may be called from several threads.
class CheckpointReader {
 public:
  /// Verifies the manifest, the size and identity of each rank file, and each block index.
  static CheckpointReader open(const std::filesystem::path& checkpoint);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  std::int64_t step() const;
  const std::filesystem::path& path() const;
  const CheckpointIdentity& identity() const;
  const CheckpointState& state() const;
  std::int64_t writingRanks() const;
  /// All blocks of all ranks, ordered by (label, level, patch).
  const std::vector<BlockDescription>& blocks() const;
  /// Null when there is no such block.
  const BlockDescription* find(std::string_view label, std::int32_t level, std::int64_t patch) const;

  /// Fills `out` (exactly `BlockDescription::bytes()`) with the values of one block after checking its CRC.
  void readBlock(std::string_view label, std::int32_t level, std::int64_t patch,
                 std::span<std::byte> out) const;
  /// Reads every block and checks its CRC.
  void verifyAll() const;
  /// InputError unless grid, components and labels (names, types, centerings) are those of `ours`.
  void requireSame(const CheckpointIdentity& ours) const;

 private:
  struct Content;
  friend bool isWhole(const std::filesystem::path& checkpoint);
  friend std::vector<CheckpointListing> listCheckpoints(const std::filesystem::path& folder);
  explicit CheckpointReader(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace tessera
