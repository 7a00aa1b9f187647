#include "datawarehouse/description.hpp"

#include <new>

namespace tessera {

AlignedMemory::AlignedMemory(std::int64_t bytes)
    : bytes_(static_cast<std::byte*>(
          ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{kBufferAlignment}))) {}

void AlignedMemory::Free::operator()(std::byte* bytes) const {
  ::operator delete (bytes, std::align_val_t{kBufferAlignment});
}

std::int64_t paddedBytes(std::int64_t bytes) {
  const auto a = static_cast<std::int64_t>(kBufferAlignment);
  return (bytes + a - 1) / a * a;
}

}  // namespace tessera
