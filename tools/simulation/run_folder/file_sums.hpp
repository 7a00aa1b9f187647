#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {

/// How long the beginning of a file is, and its CRC-32C.
struct FileSum {
  std::int64_t bytes = 0;
  std::uint32_t crc = 0;
  friend bool operator==(const FileSum&, const FileSum&) = default;
};

/// Of the first `mostBytes` bytes of a file, or of all where it is shorter.
FileSum sumOf(const FolderHandle& folder, const std::string& name,
              std::int64_t mostBytes = std::numeric_limits<std::int64_t>::max());

/// A file that grows line by line, and its sum. One thread at a time.
class SummedFile {
 public:
  SummedFile() = default;
  /// Goes on at the end of what is there.
  SummedFile(const FolderHandle& folder, const std::string& name);
  /// 0, or the errno of what went wrong.
  int append(std::string_view text);
  const FileSum& sum() const { return sum_; }

 private:
  FileHandle file_;
  FileSum sum_;
};

/// RUN/sums.json: what the files of the run were at its last checkpoint or at its end, by name. Those that
/// have grown since still begin like that.
void writeSums(const FolderHandle& folder, const std::map<std::string, FileSum>& sums);
/// Empty where the run has none, as one that had no checkpoint. Throws InputError where it is damaged.
std::map<std::string, FileSum> readSums(const FolderHandle& folder);

}  // namespace tessera
