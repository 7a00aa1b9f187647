#include "scheduler/device/backend/emulated_addresses.hpp"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "core/text/contracts.hpp"
#include "scheduler/device/backend/device_error.hpp"

namespace tessera::detail {

namespace {

std::int64_t pieceOf(std::int64_t bytes, std::int64_t page) {
  if (page == 0) page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

}  // namespace

EmulatedAddresses::EmulatedAddresses(std::int64_t bytes, std::int64_t pieceBytes, std::string device,
                                     std::int64_t& inUse, std::int64_t limit, std::int64_t page)
    : device_(std::move(device)),
      inUse_(inUse),
      limit_(limit),
      piece_(pieceOf(pieceBytes, page)),
      protects_(page == 0) {
  bytes_ = (bytes + piece_ - 1) / piece_ * piece_;
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
  TESSERA_EXPECT(offset % piece_ == 0 && bytes % piece_ == 0 && offset + bytes <= bytes_, "map whole pieces");
  if (bytes > limit_ - inUse_) throw outOfDeviceMemory(device_, "pages", bytes, inUse_, limit_);
  if (protects_ && mprotect(begin_ + offset, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE) != 0) {
    throw outOfDeviceMemory(device_, "pages", bytes, inUse_, limit_);
  }
  inUse_ += bytes;
  mapped_ += bytes;
}

void EmulatedAddresses::unmap(std::int64_t offset, std::int64_t bytes) {
  TESSERA_EXPECT(offset % piece_ == 0 && bytes % piece_ == 0 && offset + bytes <= bytes_,
                 "unmap whole pieces");
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
