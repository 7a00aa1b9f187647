#include "core/transport/detail/posix_shared_memory.hpp"

#include <fcntl.h>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera::detail {
namespace {

std::byte* map(int descriptor, std::int64_t bytes) {
  void* const memory =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

bool isTheSame(const struct stat& file, const SharedMemoryAddress& address) {
  return S_ISREG(file.st_mode) && file.st_size == address.bytes && file.st_dev == address.device &&
         file.st_ino == address.inode;
}

}  // namespace

std::optional<SharedMemory> SharedMemory::make(std::int64_t bytes) {
  // Where files may not be that long, to try would be answered by a signal.
  rlimit longest{};
  if (getrlimit(RLIMIT_FSIZE, &longest) != 0 || longest.rlim_cur < static_cast<rlim_t>(bytes))
    return std::nullopt;
  const int descriptor = memfd_create("tessera-messages", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return std::nullopt;
  SharedMemory made(descriptor, nullptr, bytes);
  // Allocated here and of fixed size: a later touch by whomever cannot fail.
  if (ftruncate(descriptor, bytes) != 0 || posix_fallocate(descriptor, 0, bytes) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return std::nullopt;
  }
  made.data_ = map(descriptor, bytes);
  if (made.data_ == nullptr) return std::nullopt;
  return made;
}

std::optional<SharedMemory> SharedMemory::open(const SharedMemoryAddress& address) {
  if (address.descriptor < 0) return std::nullopt;
  const std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return std::nullopt;
  SharedMemory opened(descriptor, nullptr, address.bytes);
  struct stat file {};
  if (fstat(descriptor, &file) != 0 || !isTheSame(file, address)) return std::nullopt;
  opened.data_ = map(descriptor, address.bytes);
  if (opened.data_ == nullptr) return std::nullopt;
  opened.close();
  return opened;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
  close();
}

SharedMemoryAddress SharedMemory::address() const {
  struct stat file {};
  if (descriptor_ < 0 || fstat(descriptor_, &file) != 0) return {};
  return {getpid(), descriptor_, bytes_, file.st_dev, file.st_ino};
}

void SharedMemory::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::uint64_t machineNumber() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat processes {};
  if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return 0;
  return std::hash<std::string>()(boot + ' ' + std::to_string(processes.st_ino)) | 1U;
}

}  // namespace tessera::detail
