#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {

/// The folder of one run, locked for one process (rank 0) as long as this object lives.
/// docs/user/run_folder.md says what is in it.
///
///   RunFolder run = RunFolder::create("inputs/heat/cosine.toml", std::nullopt);   // ./cosine, or
///   ./cosine.001 ... run.files().write("resolved.toml", text);
class RunFolder {
 public:
  /// A new folder: `out`, or a name made from the deck's in the current folder, with .001, .002 ... where
  /// that is taken. Nothing is ever overwritten: an `out` that has something in it is refused. Throws
  /// OutputError.
  static RunFolder create(const std::string& deckName, const std::optional<std::filesystem::path>& out);
  /// An existing run, to go on with. Throws InputError where there is none, OutputError where it is in use by
  /// another process or cannot be written.
  static RunFolder reopen(const std::filesystem::path& path);

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = delete;
  ~RunFolder();

  const FolderHandle& files() const { return files_; }
  const std::filesystem::path& path() const { return files_.path(); }
  std::filesystem::path outputFolder() const { return path() / "out"; }
  std::filesystem::path checkpointFolder() const { return path() / "checkpoints"; }

 private:
  explicit RunFolder(FolderHandle files);
  void lock();

  FolderHandle files_;
  FileHandle lock_;
};

/// Whether a folder is that of a run. Throws InputError where it is, but lacks its deck.
bool isRunFolder(const std::filesystem::path& folder);

/// Name and number of this process, "host 4711", as lock files have it.
std::string processName();
/// The name of this machine.
std::string hostName();

}  // namespace tessera
