#include "datawarehouse/archive/detail/posix_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tessera::detail {
namespace {

std::string explain(std::string_view operation, const std::string& path, int error) {
  std::string text =
      "cannot " + std::string(operation) + " " + path + ": " + std::generic_category().message(error);
  if (error == ENOSPC || error == EDQUOT) text += " (free some space or choose another folder)";
  if (error == EFBIG) text += " (raise the file size limit, 'ulimit -f')";
  if (error == EACCES || error == EPERM || error == EROFS) text += " (check the rights of the folder)";
  return text;
}

}  // namespace

bool FileOps::at(std::string_view operation, const std::string& path) const {
  if (faults_ == nullptr) return false;
  const FaultPlan::Outcome outcome = faults_->hit(subject_ + "." + std::string(operation));
  if (outcome.effect == FaultEffect::Fail)
    throw IoError(outcome.error, explain(operation, path, outcome.error));
  return outcome.effect == FaultEffect::ShortWrite;
}

std::int64_t FileOps::run(std::string_view operation, const std::string& path,
                          const std::function<std::int64_t()>& call) const {
  at(operation, path);
  while (true) {
    const std::int64_t result = call();
    if (result >= 0) return result;
    if (errno != EINTR) throw IoError(errno, explain(operation, path, errno));
  }
}

bool isSafeName(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

void File::allocate(const FileOps& ops, std::int64_t bytes) const {
  if (bytes == 0) return;
  // posix_fallocate returns its error instead of setting errno.
  ops.run("allocate", path_ + " (" + std::to_string(bytes) + " bytes)", [&]() -> std::int64_t {
    errno = ::posix_fallocate(descriptor_, 0, bytes);
    return errno == 0 ? 0 : -1;
  });
}

void File::writeAt(const FileOps& ops, std::span<const std::byte> bytes, std::int64_t offset) const {
  while (!bytes.empty()) {
    const bool shortened = ops.at("write", path_);
    // Linux moves at most 2 GiB a call; asking for 1 GiB keeps every system on the same path.
    std::size_t wanted = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    if (shortened) wanted = (wanted + 1) / 2;
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), wanted, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const int error = done == 0 ? ENOSPC : errno;
      throw IoError(error, explain("write", path_ + " at byte " + std::to_string(offset), error));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += done;
  }
}

void File::sync(const FileOps& ops) const {
  ops.run("fsync", path_, [&] { return ::fsync(descriptor_); });
}

void File::close(const FileOps& ops) {
  ops.at("close", path_);
  // After a failed close the descriptor is gone on Linux, EINTR included: never closed twice.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    throw IoError(errno, explain("close", path_, errno));
}

std::int64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw IoError(errno, explain("examine", path_, errno));
  return status.st_size;
}

std::int64_t File::readAt(std::span<std::byte> bytes, std::int64_t offset) const {
  std::int64_t total = 0;
  while (!bytes.empty()) {
    const ssize_t done = ::pread(descriptor_, bytes.data(),
                                 std::min<std::size_t>(bytes.size(), std::size_t{1} << 30), offset + total);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw IoError(errno, explain("read", path_, errno));
    if (done == 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    total += done;
  }
  return total;
}

Folder Folder::open(const std::filesystem::path& path, const FileOps& ops) {
  const auto fd = ops.run("open", path.string(),
                          [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  return Folder(File(static_cast<int>(fd), path.string()));
}

Folder Folder::openIn(int parent, const std::filesystem::path& path, const FileOps& ops) {
  if (parent < 0) return open(path, ops);
  const std::string name = path.filename().string();
  if (::mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST)
    throw IoError(errno, explain("make the folder", path.string(), errno));
  const auto fd = ops.run("open", path.string(), [&] {
    return ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  });
  return Folder(File(static_cast<int>(fd), path.string()));
}

File Folder::openAt(const std::string& name, int flags, const FileOps& ops) const {
  const std::string full = pathOf(name);
  // O_NONBLOCK: a pipe left under the name of a file must not make us wait for ever.
  const auto fd = ops.run("open", full, [&] {
    return ::openat(descriptor(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  });
  return File(static_cast<int>(fd), full);
}

Folder Folder::openFolder(const std::string& name, const FileOps& ops) const {
  return Folder(openAt(name, O_RDONLY | O_DIRECTORY, ops));
}

File Folder::createFile(const std::string& name, const FileOps& ops) const {
  return openAt(name, O_RDWR | O_CREAT | O_EXCL, ops);
}

namespace {
File requireRegular(File file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw IoError(EINVAL, file.path() + " is not a regular file");
  }
  return file;
}
}  // namespace

File Folder::openForWriting(const std::string& name, const FileOps& ops) const {
  return requireRegular(openAt(name, O_RDWR, ops));
}

File Folder::openForReading(const std::string& name, const FileOps& ops) const {
  return requireRegular(openAt(name, O_RDONLY, ops));
}

void Folder::makeFolder(const std::string& name, const FileOps& ops) const {
  ops.run("mkdir", pathOf(name), [&] { return ::mkdirat(descriptor(), name.c_str(), 0777); });
}

void Folder::unlinkFile(const std::string& name, const FileOps& ops) const {
  ops.run("unlink", pathOf(name), [&] { return ::unlinkat(descriptor(), name.c_str(), 0); });
}

void Folder::removeFolder(const std::string& name, const FileOps& ops) const {
  ops.run("rmdir", pathOf(name), [&] { return ::unlinkat(descriptor(), name.c_str(), AT_REMOVEDIR); });
}

bool Folder::has(const std::string& name) const {
  struct stat status {};
  return ::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::names() const {
  // A second descriptor, because closedir closes the one it was given.
  const int copy = ::openat(descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) throw IoError(errno, explain("list", path_, errno));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), &::closedir);
  if (!stream) {
    ::close(copy);
    throw IoError(errno, explain("list", path_, errno));
  }
  std::vector<std::string> found;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Folder::rename(const std::string& from, const std::string& to, const FileOps& ops) const {
  constexpr int kTries = 5;
  for (int n = 1;; ++n) {
    try {
      ops.run("rename", pathOf(from),
              [&] { return ::renameat(descriptor(), from.c_str(), descriptor(), to.c_str()); });
      return;
    } catch (const IoError& failure) {
      const bool passing = failure.error == EBUSY || failure.error == EAGAIN || failure.error == ESTALE ||
                           failure.error == ENOENT;
      if (!passing || n == kTries) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * n));
  }
}

bool Folder::exchange(const std::string& a, const std::string& b, const FileOps& ops) const {
  try {
    ops.run("rename", pathOf(a),
            [&] { return ::renameat2(descriptor(), a.c_str(), descriptor(), b.c_str(), RENAME_EXCHANGE); });
    return true;
  } catch (const IoError& failure) {
    if (failure.error == EINVAL || failure.error == ENOSYS || failure.error == ENOTSUP) return false;
    throw;
  }
}

void replaceFile(const Folder& folder, const std::string& name, std::string_view text, const FileOps& ops) {
  const std::string unfinished = name + ".tmp";
  if (folder.has(unfinished)) folder.unlinkFile(unfinished, ops);
  try {
    File file = folder.createFile(unfinished, ops);
    file.writeAt(ops, asBytes(text), 0);
    file.sync(ops);
    file.close(ops);
    folder.rename(unfinished, name, ops);
  } catch (const std::exception&) {
    ::unlinkat(folder.descriptor(), unfinished.c_str(), 0);
    throw;
  }
  folder.sync(ops);
}

}  // namespace tessera::detail
