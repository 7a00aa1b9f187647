#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault_point.hpp"

namespace tessera::detail {

/// An operation of the operating system failed: `error` is its errno, the text names operation and path.
struct IoError : OutputError {
  IoError(int number, std::string text) : OutputError(std::move(text)), error(number) {}
  int error;
};

/// File operations with fault points in front of them, named "<subject>.<operation>".
/// Every call reports failures as IoError; interrupted calls are made again.
class FileOps {
 public:
  FileOps(std::string subject, FaultPlan* faults) : subject_(std::move(subject)), faults_(faults) {}

  /// Reaches the fault point and throws IoError when it is told to fail; true when a write must be short.
  bool at(std::string_view operation, const std::string& path) const;
  /// Makes `call` until it is not interrupted; IoError naming `operation` and `path` when it gives -1.
  std::int64_t run(std::string_view operation, const std::string& path,
                   const std::function<std::int64_t()>& call) const;

 private:
  std::string subject_;
  FaultPlan* faults_;
};

/// True for a single relative name of [A-Za-z0-9._-], 1 to 100 bytes, no leading dot.
bool isSafeName(std::string_view name);

/// One open file; closed on destruction without a check, so a writer calls `close`.
class File {
 public:
  File() = default;
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  /// Reserves the disk space of the first `bytes` bytes, so that a full disk shows here and not later.
  void allocate(const FileOps& ops, std::int64_t bytes) const;
  /// Writes all bytes at `offset`; short writes are continued.
  void writeAt(const FileOps& ops, std::span<const std::byte> bytes, std::int64_t offset) const;
  void sync(const FileOps& ops) const;
  void close(const FileOps& ops);
  std::int64_t size() const;
  /// Reads up to `bytes.size()` bytes; returns how many there were (fewer only at the end of the file).
  std::int64_t readAt(std::span<std::byte> bytes, std::int64_t offset) const;

 private:
  int descriptor_ = -1;
  std::string path_;
};

/// A folder held open: names are resolved inside it, symbolic links are never followed.
class Folder {
 public:
  /// Opens an existing folder. The path itself is the caller's choice and may go through links.
  static Folder open(const std::filesystem::path& path, const FileOps& ops);
  /// Opens an entry of a folder that is held open as `parent`, wherever that has been moved meanwhile; makes
  /// it when it is missing. `path` is for messages, and its last part the name. Without a parent (-1) the
  /// path.
  static Folder openIn(int parent, const std::filesystem::path& path, const FileOps& ops);
  /// Opens the folder `name` inside this one.
  Folder openFolder(const std::string& name, const FileOps& ops) const;

  std::string pathOf(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }
  int descriptor() const { return file_.descriptor(); }

  File createFile(const std::string& name, const FileOps& ops) const;      ///< fails when it exists
  File openForWriting(const std::string& name, const FileOps& ops) const;  ///< an existing regular file
  File openForReading(const std::string& name, const FileOps& ops) const;  ///< an existing regular file
  void makeFolder(const std::string& name, const FileOps& ops) const;
  void unlinkFile(const std::string& name, const FileOps& ops) const;
  void removeFolder(const std::string& name, const FileOps& ops) const;
  bool has(const std::string& name) const;
  /// All entries but "." and "..", sorted.
  std::vector<std::string> names() const;
  /// Renames with a bounded number of tries: network file systems may refuse right after a close.
  void rename(const std::string& from, const std::string& to, const FileOps& ops) const;
  /// Swaps two names in one step; false when the file system cannot do that.
  bool exchange(const std::string& a, const std::string& b, const FileOps& ops) const;
  void sync(const FileOps& ops) const { file_.sync(ops); }

 private:
  Folder(File file) : file_(std::move(file)), path_(file_.path()) {}
  File openAt(const std::string& name, int flags, const FileOps& ops) const;
  File file_;
  std::string path_;
};

/// Writes `text` as file `name`: to "<name>.tmp", fsync, rename, fsync of the folder.
void replaceFile(const Folder& folder, const std::string& name, std::string_view text, const FileOps& ops);

/// The bytes of a text, for the span interfaces.
inline std::span<const std::byte> asBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tessera::detail
