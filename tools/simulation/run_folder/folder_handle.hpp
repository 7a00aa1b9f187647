#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// A file descriptor with an owner.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  ~FileHandle() { close(); }
  FileHandle(FileHandle&& other) noexcept : descriptor_(other.release()) {}
  FileHandle& operator=(FileHandle&& other) noexcept;

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  void close();

 private:
  int release();
  int descriptor_ = -1;
};

/// An open folder. Files in it are named by one component and reached through the folder's descriptor, never
/// through a symbolic link: nothing can be read or written outside of it. Errors: OutputError (writing) and
/// InputError (reading) with the path and the system's reason. One thread at a time.
class FolderHandle {
 public:
  /// Opens an existing folder; a symbolic link is refused. Throws OutputError.
  static FolderHandle open(const std::filesystem::path& path);
  /// Opens an existing folder that a user has named: the name may be a symbolic link; nothing inside is
  /// reached through one. Throws OutputError.
  static FolderHandle openNamed(const std::filesystem::path& path);
  /// Makes a new folder and opens it. False in `made` when something of that name is there.
  static FolderHandle make(const std::filesystem::path& path, bool& made);

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return handle_.get(); }
  bool has(const std::string& name) const;
  /// The whole file; at most 64 MiB.
  std::string read(const std::string& name) const { return read(name, std::int64_t{64} << 20); }
  std::string read(const std::string& name, std::int64_t mostBytes) const;
  /// A file of any size, piece by piece, to its end or until `visit` says false.
  void forEachPiece(const std::string& name, const std::function<bool(std::string_view)>& visit) const;
  /// Line after line of a file of any size, without their ends; a line of more than a MiB is an InputError.
  void forEachLine(const std::string& name, const std::function<void(std::string_view)>& visit) const;
  /// The names in it but "." and "..", in no order.
  std::vector<std::string> names() const;
  /// Opens a folder inside.
  FolderHandle inside(const std::string& name) const;
  /// Replaces the file as a whole: a temporary file, fsync, rename. A reader sees the old one or the new one.
  void write(const std::string& name, std::string_view text) const;
  /// Opens for appending; makes the file when missing.
  FileHandle openToAppend(const std::string& name) const;
  /// Makes a file that is not there yet. False when it is there.
  bool claim(const std::string& name) const;
  /// Makes a file of this size whose room on the disk is taken.
  void reserve(const std::string& name, std::int64_t bytes) const;
  /// Gives a file that is wholly there its name, in the place of another one; what it holds is on the disk.
  void rename(const std::string& from, const std::string& to) const;
  void remove(const std::string& name) const;  ///< a missing file is fine
  /// Makes a folder inside, or finds it; a file or a symbolic link in its place, or one that cannot be
  /// written, is an OutputError.
  void needFolder(const std::string& name) const;
  /// A descriptor of the file for locking, mode 0600.
  FileHandle openLock(const std::string& name) const;

 private:
  FolderHandle() = default;
  [[noreturn]] void cannotWrite(const std::string& name, int error) const;
  FileHandle openToRead(const std::string& name) const;
  /// For writing. Anything but a plain file is refused, a pipe without waiting for whoever reads it.
  FileHandle openPlain(const std::string& name, int flags, unsigned mode) const;

  std::filesystem::path path_;
  FileHandle handle_;
};

/// Writes all bytes, over interruptions and short writes; 0, or the errno of what went wrong.
int writeAll(int descriptor, std::string_view bytes);

/// "No space left on device" and the like.
std::string errorText(int error);

}  // namespace tessera
