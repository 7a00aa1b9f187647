#include "scheduler/device/detail/emulated_addresses.hpp"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "core/contracts.hpp"
#include "scheduler/device/device_error.hpp"

namespace tessera::detail {

EmulatedAddresses::EmulatedAddresses(std::int64_t bytes, std::string device, std::int64_t& inUse,
                                     std::int64_t limit, std::int64_t page)
    : device_(std::move(device)),
      inUse_(inUse),
      limit_(limit),
      page_(page > 0 ? page : sysconf(_SC_PAGESIZE)),
      protects_(page == 0) {
  bytes_ = (bytes + page_ - 1) / page_ * page_;
  void* range =
      mmap(nullptr, static_cast<std::size_t>(bytes_), protects_ ? PROT_NONE : PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw outOfDeviceMemory(device_, "addresses", bytes_, inUse_, limit_);
  begin_ = static_cast<std::byte*>(range);
}

EmulatedAddresses::~EmulatedAddresses() {
  inUse_ -= mapped_;
  munmap(begin_, static_cast<std::size_t>(bytes_));
}

void EmulatedAddresses::map(std::int64_t offset, std::int64_t bytes) {
  TESSERA_EXPECT(offset % page_ == 0 && bytes % page_ == 0 && offset + bytes <= bytes_, "map whole pages");
  if (bytes > limit_ - inUse_) throw outOfDeviceMemory(device_, "pages", bytes, inUse_, limit_);
  if (protects_ && mprotect(begin_ + offset, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE) != 0) {
    throw outOfDeviceMemory(device_, "pages", bytes, inUse_, limit_);
  }
  inUse_ += bytes;
  mapped_ += bytes;
}

void EmulatedAddresses::unmap(std::int64_t offset, std::int64_t bytes) {
  TESSERA_EXPECT(offset % page_ == 0 && bytes % page_ == 0 && offset + bytes <= bytes_, "unmap whole pages");
  // The values are gone, as on a GPU, where the next who maps the page finds those of somebody else.
  if (protects_) {
    madvise(begin_ + offset, static_cast<std::size_t>(bytes), MADV_DONTNEED);
    mprotect(begin_ + offset, static_cast<std::size_t>(bytes), PROT_NONE);
  } else {
    std::memset(begin_ + offset, 0xFF, static_cast<std::size_t>(bytes));
  }
  inUse_ -= bytes;
  mapped_ -= bytes;
}

}  // namespace tessera::detail
