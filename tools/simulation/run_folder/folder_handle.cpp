#include "tools/simulation/run_folder/folder_handle.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

const char* const kOrElse = ", or choose another place with --out DIR";

std::string fixFor(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    case ENOENT:
      return "make the folder that should hold it";
    case ELOOP:
    case ENOTDIR:
      return "a folder is needed here, not a file or a symbolic link";
    default:
      return "it has to be a place that you may write to";
  }
}

bool isPlain(const FileHandle& file) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

[[noreturn]] void cannotUse(const std::string& what, const std::filesystem::path& path, int error,
                            const char* orElse = "") {
  throw OutputError(Message("cannot " + what + " " + path.string() + ": " + errorText(error))
                        .line("fix  ", fixFor(error), orElse)
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

FolderHandle FolderHandle::openNamed(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return open(path);
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return open(error ? path : real);
}

FolderHandle FolderHandle::make(const std::filesystem::path& path, bool& made) {
  made = ::mkdir(path.c_str(), 0777) == 0;
  if (!made && errno != EEXIST) cannotUse("make the run folder", path, errno, kOrElse);
  if (made) return open(path);
  FolderHandle nothing;
  nothing.path_ = path;
  return nothing;
}

bool FolderHandle::has(const std::string& name) const {
  struct stat status;
  return ::fstatat(handle_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

FolderHandle FolderHandle::inside(const std::string& name) const {
  FolderHandle folder;
  folder.path_ = path_ / name;
  folder.handle_ =
      FileHandle(::openat(handle_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.handle_) cannotUse("use the folder", folder.path_, errno);
  return folder;
}

std::vector<std::string> FolderHandle::names() const {
  const int copy = ::openat(handle_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) cannotUse("list", path_, errno);
  std::vector<std::string> found;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") found.push_back(name);
  }
  ::closedir(stream);
  return found;
}

FileHandle FolderHandle::openToRead(const std::string& name) const {
  FileHandle file(::openat(handle_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw InputError("cannot read " + (path_ / name).string() + ": " + errorText(errno));
  if (!isPlain(file))
    throw InputError("cannot read " + (path_ / name).string() + ": it is not a regular file");
  return file;
}

FileHandle FolderHandle::openPlain(const std::string& name, int flags, unsigned mode) const {
  FileHandle file(::openat(handle_.get(), name.c_str(), O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, mode));
  if (!file) cannotWrite(name, errno);
  if (!isPlain(file)) {
    throw OutputError(Message("cannot write " + (path_ / name).string() + ": it is not a regular file")
                          .line("fix  remove it")
                          .text());
  }
  return file;
}

std::string FolderHandle::read(const std::string& name, std::int64_t mostBytes) const {
  const FileHandle file = openToRead(name);
  std::string text;
  char buffer[65536];
  ssize_t n = 1;
  while (n > 0 && std::ssize(text) <= mostBytes) {
    n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR)
      n = 1;
    else if (n > 0)
      text.append(buffer, static_cast<std::size_t>(n));
  }
  if (n < 0 || std::ssize(text) > mostBytes) {
    throw InputError(
        "cannot read " + (path_ / name).string() + ": " +
        (n < 0 ? errorText(errno) : "it is larger than " + std::to_string(mostBytes >> 20) + " MiB"));
  }
  return text;
}

void FolderHandle::forEachPiece(const std::string& name,
                                const std::function<bool(std::string_view)>& visit) const {
  const FileHandle file = openToRead(name);
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw InputError("cannot read " + (path_ / name).string() + ": " + errorText(errno));
    if (n == 0 || !visit({buffer, static_cast<std::size_t>(n)})) return;
  }
}

void FolderHandle::forEachLine(const std::string& name,
                               const std::function<void(std::string_view)>& visit) const {
  std::string rest;
  forEachPiece(name, [&](std::string_view piece) {
    rest.append(piece);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1)
      visit(std::string_view(rest).substr(begin, end - begin));
    rest.erase(0, begin);
    if (rest.size() > kLongestLine)
      throw InputError("cannot read " + (path_ / name).string() + ": it has a line of more than a MiB");
    return true;
  });
  if (!rest.empty()) visit(rest);
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
  return openPlain(name, O_WRONLY | O_CREAT | O_APPEND, 0666);
}

bool FolderHandle::claim(const std::string& name) const {
  const FileHandle file(
      ::openat(handle_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  return static_cast<bool>(file) || errno != EEXIST;
}

void FolderHandle::reserve(const std::string& name, std::int64_t bytes) const {
  const FileHandle file = openPlain(name, O_WRONLY | O_CREAT, 0666);
  const int error = ::posix_fallocate(file.get(), 0, bytes);
  if (error == 0) return;
  remove(name);
  cannotWrite(name, error);
}

void FolderHandle::rename(const std::string& from, const std::string& to) const {
  const FileHandle file = openToRead(from);
  if (::fsync(file.get()) != 0 || ::renameat(handle_.get(), from.c_str(), handle_.get(), to.c_str()) != 0)
    cannotWrite(to, errno);
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
  return openPlain(name, O_RDWR | O_CREAT, 0600);
}

void FolderHandle::cannotWrite(const std::string& name, int error) const {
  cannotUse("write", path_ / name, error);
}

}  // namespace tessera
