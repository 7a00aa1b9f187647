#include "core/memory/page_memory.hpp"

#include <cstring>
#include <new>
#include <unistd.h>

namespace tessera::detail {
namespace {

std::align_val_t pageSize() { return static_cast<std::align_val_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

PageMemory::PageMemory(std::int64_t bytes) {
  if (bytes == 0) return;
  const auto page = static_cast<std::size_t>(pageSize());
  bytes_ = (static_cast<std::size_t>(bytes) + page - 1) / page * page;
  memory_.reset(static_cast<std::byte*>(::operator new(bytes_, pageSize())));
  std::memset(memory_.get(), 0, bytes_);
}

void PageMemory::Free::operator()(std::byte* memory) const { ::operator delete(memory, pageSize()); }

}  // namespace tessera::detail
