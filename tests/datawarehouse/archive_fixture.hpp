#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/fault_point.hpp"
#include "core/transport/transport.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/checkpoint_writer.hpp"

namespace tessera::test {

/// A new empty folder that is deleted with everything in it at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Room for about one MiB: a tmpfs of that size, or, where mounting is not permitted, a limit on the size of
/// files.
class SmallDisk {
 public:
  SmallDisk();
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
};

/// Files cannot grow beyond `bytes` while this lives (EFBIG and short writes instead of a signal).
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::int64_t bytes);
  ~FileSizeLimit();
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  unsigned long soft_ = 0;
  void (*handler_)(int) = nullptr;
};

/// Runs `body` in a child process and returns its exit code (-1 when a signal ended it).
int runInChild(const std::function<void()>& body);

/// The simulation that the checkpoint tests save: `patches` patches of `cells` x 2 x 1 cells on level 0 and
/// one on level 1, a double "temperature" on cells, a float[3] "velocity" on nodes of x.
struct Sample {
  std::int64_t patches = 4;
  std::int64_t cells = 3;

  std::vector<BlockDescription> blocks() const;
  CheckpointIdentity identity() const;
  CheckpointState state(std::int64_t step) const;
  /// The values of a block at a step; every byte depends on block, place and step.
  std::vector<std::byte> values(const BlockDescription& block, std::int64_t step) const;
  /// The blocks of one rank: those with patch % ranks == rank.
  CheckpointBlocks share(std::int64_t step, int rank, int ranks) const;

  /// Writes it with `ranks` loopback ranks; the result of rank 0 after checking that all ranks got the same.
  CheckpointResult write(const std::filesystem::path& folder, std::int64_t step, int ranks = 1,
                         FaultPlan* faults = nullptr) const;
  /// Expects that `path` loads, is of `step`, and holds every bit of it.
  void expectLoads(const std::filesystem::path& path, std::int64_t step) const;
};

/// The valid checkpoints' names, newest first.
std::vector<std::string> validNames(const std::filesystem::path& folder);
/// All names in a folder, sorted.
std::vector<std::string> namesIn(const std::filesystem::path& folder);

std::string readText(const std::filesystem::path& file);
void writeText(const std::filesystem::path& file, const std::string& text);

/// The message of the InputError that `work` throws; empty when it throws none.
std::string inputErrorOf(const std::function<void()>& work);

}  // namespace tessera::test
