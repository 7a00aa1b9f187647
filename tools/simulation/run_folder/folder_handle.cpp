#include "tools/simulation/run_folder/folder_handle.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

std::string fixFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or choose another place with --out DIR";
    case ENOENT:
      return "make the folder that should hold it, or choose another place with --out DIR";
    case ELOOP:
    case ENOTDIR:
      return "a folder is needed here, not a file or a symbolic link; choose another place with --out DIR";
    default:
      return "choose a place that you may write to with --out DIR";
  }
}

[[noreturn]] void cannotUse(const std::string& what, const std::filesystem::path& path, int error) {
  throw OutputError(Message("cannot " + what + " " + path.string() + ": " + errorText(error))
                        .line("fix  ", fixFor(error))
                        .text());
}

}  // namespace

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

void FileHandle::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int FileHandle::release() { return std::exchange(descriptor_, -1); }

std::string errorText(int error) { return std::generic_category().message(error); }

int writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

FolderHandle FolderHandle::open(const std::filesystem::path& path) {
  FolderHandle folder;
  folder.path_ = path;
  folder.handle_ = FileHandle(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.handle_) cannotUse("use the folder", path, errno);
  return folder;
}

FolderHandle FolderHandle::make(const std::filesystem::path& path, bool& made) {
  made = ::mkdir(path.c_str(), 0777) == 0;
  if (!made && errno != EEXIST) cannotUse("make the run folder", path, errno);
  if (made) return open(path);
  FolderHandle nothing;
  nothing.path_ = path;
  return nothing;
}

bool FolderHandle::has(const std::string& name) const {
  struct stat status;
  return ::fstatat(handle_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string FolderHandle::read(const std::string& name) const {
  const FileHandle file(
      ::openat(handle_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  std::string text;
  char buffer[65536];
  ssize_t n = file ? 1 : -1;
  while (n > 0 && text.size() <= kMaxBytes) {
    n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      n = 1;
    else if (n > 0)
      text.append(buffer, static_cast<std::size_t>(n));
  }
  if (n < 0 || text.size() > kMaxBytes) {
    throw InputError(Message("cannot read " + (path_ / name).string() + ": " +
                             (n < 0 ? errorText(errno) : std::string("it is larger than 64 MiB")))
                         .text());
  }
  return text;
}

void FolderHandle::write(const std::string& name, std::string_view text) const {
  const std::string temporary = name + ".tmp";
  remove(temporary);
  const FileHandle file(
      ::openat(handle_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) cannotWrite(name, errno);
  int error = writeAll(file.get(), text);
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (error == 0 && ::renameat(handle_.get(), temporary.c_str(), handle_.get(), name.c_str()) != 0)
    error = errno;
  if (error != 0) {
    remove(temporary);
    cannotWrite(name, error);
  }
}

FileHandle FolderHandle::openToAppend(const std::string& name) const {
  FileHandle file(
      ::openat(handle_.get(), name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) cannotWrite(name, errno);
  return file;
}

bool FolderHandle::claim(const std::string& name) const {
  const FileHandle file(
      ::openat(handle_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  return static_cast<bool>(file) || errno != EEXIST;
}

void FolderHandle::reserve(const std::string& name, std::int64_t bytes) const {
  const FileHandle file =
      FileHandle(::openat(handle_.get(), name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  const int error = file ? ::posix_fallocate(file.get(), 0, bytes) : errno;
  if (error == 0) return;
  remove(name);
  cannotWrite(name, error);
}

void FolderHandle::remove(const std::string& name) const { ::unlinkat(handle_.get(), name.c_str(), 0); }

void FolderHandle::needFolder(const std::string& name) const {
  if (::mkdirat(handle_.get(), name.c_str(), 0777) != 0 && errno != EEXIST) cannotWrite(name, errno);
  const FileHandle folder(
      ::openat(handle_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) cannotWrite(name, errno);
  if (::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) cannotWrite(name, errno);
}

FileHandle FolderHandle::openLock(const std::string& name) const {
  FileHandle file(::openat(handle_.get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) cannotWrite(name, errno);
  return file;
}

void FolderHandle::cannotWrite(const std::string& name, int error) const {
  cannotUse("write", path_ / name, error);
}

}  // namespace tessera
