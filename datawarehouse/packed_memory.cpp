#include "datawarehouse/packed_memory.hpp"

#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera {
namespace {

int openFile() { return memfd_create("tessera-windows", MFD_CLOEXEC); }

}  // namespace

PageFile::~PageFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool PageFile::works() {
  if (sysconf(_SC_PAGESIZE) != kPageBytes) return false;
  const int descriptor = openFile();
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

std::int64_t PageFile::add(std::int64_t pages) {
  if (descriptor_ < 0) descriptor_ = openFile();
  if (descriptor_ < 0 || ftruncate(descriptor_, (pages_ + pages) * kPageBytes) != 0) throw std::bad_alloc();
  pages_ += pages;
  return pages_ - pages;
}

std::int64_t PageFile::residentBytes() const {
  struct stat status {};
  constexpr std::int64_t kBlock = 512;  // of st_blocks, on any file system
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 ? status.st_blocks * kBlock : 0;
}

PackedMemory::PackedMemory(const PackedWindow& packed, std::int64_t elementBytes, const PageFile& file,
                           std::int64_t firstPage) {
  bytes_ = static_cast<std::size_t>(addressPages(packed, elementBytes) * kPageBytes);
  // What is between slabs reads as zero and cannot be written.
  void* all = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(all);
  for (std::size_t slab = 0; slab < packed.slabs.size(); ++slab) {
    const SlabPages pages = slabPages(packed, slab, elementBytes);
    if (pages.begin == pages.end) continue;
    void* made = mmap(data_ + pages.begin * kPageBytes,
                      static_cast<std::size_t>((pages.end - pages.begin) * kPageBytes),
                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file.descriptor(),
                      (firstPage + pages.memory) * kPageBytes);
    if (made != MAP_FAILED) continue;
    munmap(data_, bytes_);
    throw std::bad_alloc();
  }
}

PackedMemory::PackedMemory(PackedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

PackedMemory& PackedMemory::operator=(PackedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PackedMemory::~PackedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace tessera
