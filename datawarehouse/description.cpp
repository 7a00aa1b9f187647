#include "datawarehouse/description.hpp"

#include <new>

namespace tessera {

AlignedMemory::AlignedMemory(std::int64_t bytes, std::size_t alignment)
    : bytes_(static_cast<std::byte*>(
                 ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{alignment})),
             detail::FreeAligned{alignment}) {}

void detail::FreeAligned::operator()(std::byte* bytes) const {
  ::operator delete (bytes, std::align_val_t{alignment});
}

std::int64_t paddedBytes(std::int64_t bytes, std::size_t piece) {
  const auto a = static_cast<std::int64_t>(piece);
  return (bytes + a - 1) / a * a;
}

}  // namespace tessera
