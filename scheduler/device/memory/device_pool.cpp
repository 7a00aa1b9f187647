#include "scheduler/device/memory/device_pool.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"

namespace tessera {

namespace {

std::int64_t rounded(std::int64_t bytes) {
  return std::max(kDeviceGrain, (bytes + kDeviceGrain - 1) / kDeviceGrain * kDeviceGrain);
}

}  // namespace

DevicePool::DevicePool(DeviceBackend& device, const DevicePoolOptions& options)
    : device_(device), options_(options) {}

DevicePool::~DevicePool() {
  try {
    for (std::size_t n = 0; n < marks_.size(); ++n) device_.synchronize({static_cast<std::int32_t>(n)});
  } catch (const DeviceError&) {
    // Whoever put the failed work there has been told, or is about to be; the memory goes all the same.
  }
  for (const Slab& slab : slabs_) {
    if (slab.memory != nullptr) device_.release(options_.space, slab.memory);
  }
}

void* DevicePool::allocate(DeviceStream stream, std::int64_t bytes, std::string_view owner) {
  const std::int64_t size = rounded(bytes);
  FreePieces& pieces = free_[size];
  char* memory = reuse(pieces, stream);
  if (memory == nullptr) memory = carve(size);
  if (memory == nullptr) memory = reuseAfterWaiting(pieces, stream);
  if (memory == nullptr && trim()) memory = carve(size);
  if (memory == nullptr) {
    throw outOfDeviceMemory(asText(device_.info()), owner, bytes, use_.inUse, options_.limitBytes);
  }
  hand(memory);
  return memory;
}

void DevicePool::hand(char* memory) {
  const Piece& piece = pieces_.at(memory);
  ++slabs_[piece.slab].piecesInUse;
  use_.inUse += piece.bytes;
  use_.highWater = std::max(use_.highWater, use_.inUse);
}

void DevicePool::free(DeviceStream stream, void* memory) {
  const auto found = pieces_.find(static_cast<char*>(memory));
  TESSERA_EXPECT(found != pieces_.end(), "free only what this pool has given");
  const auto number = static_cast<std::size_t>(stream.number);
  if (number >= marks_.size()) marks_.resize(number + 1);
  const Piece& piece = found->second;
  --slabs_[piece.slab].piecesInUse;
  use_.inUse -= piece.bytes;
  free_[piece.bytes].push_back({found->first, stream, frees_++});
}

DeviceEvent DevicePool::markAfter(const FreePiece& piece) {
  Mark& mark = marks_[static_cast<std::size_t>(piece.stream.number)];
  if (mark.event.number < 0) mark.event = device_.makeEvent();
  if (mark.covers < piece.freed) {
    device_.record(mark.event, piece.stream);
    mark.covers = frees_ - 1;
  }
  return mark.event;
}

char* DevicePool::reuse(FreePieces& pieces, DeviceStream stream) {
  const auto take = [&](FreePieces::reverse_iterator piece) {
    char* memory = piece->memory;
    pieces.erase(std::next(piece).base());
    return memory;
  };
  const bool inOrder = options_.space != DeviceSpace::PinnedHost;
  const auto own = !inOrder ? pieces.rend()
                            : std::find_if(pieces.rbegin(), pieces.rend(),
                                           [&](const FreePiece& piece) { return piece.stream == stream; });
  if (own != pieces.rend()) return take(own);
  // From the one that was freed first, which is done first; one look a stream is enough.
  std::vector<char> looked(marks_.size(), 0);
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
    char& seen = looked[static_cast<std::size_t>(piece->stream.number)];
    if (seen != 0) continue;
    seen = 1;
    if (device_.isDone(markAfter(*piece))) return take(std::make_reverse_iterator(std::next(piece)));
  }
  return nullptr;
}

char* DevicePool::reuseAfterWaiting(FreePieces& pieces, DeviceStream stream) {
  if (pieces.empty()) return nullptr;
  if (options_.space != DeviceSpace::PinnedHost) {
    device_.wait(stream, markAfter(pieces.front()));
  } else {
    device_.synchronize(pieces.front().stream);
  }
  char* memory = pieces.front().memory;
  pieces.erase(pieces.begin());
  return memory;
}

char* DevicePool::carve(std::int64_t bytes) {
  for (std::size_t n = slabs_.size(); n-- > 0;) {
    if (slabs_[n].bytes - slabs_[n].carved >= bytes) return carveFrom(n, bytes);
  }
  const bool small = bytes <= options_.slabBytes / 4;
  const std::int64_t left = (options_.limitBytes - use_.reserved) / kDeviceGrain * kDeviceGrain;
  const std::int64_t generous = std::max(bytes, std::min(options_.slabBytes, left));
  const bool added = (small && addSlab(generous)) || addSlab(bytes);
  return added ? carveFrom(slabs_.size() - 1, bytes) : nullptr;
}

char* DevicePool::carveFrom(std::size_t slab, std::int64_t bytes) {
  char* memory = slabs_[slab].memory + slabs_[slab].carved;
  slabs_[slab].carved += bytes;
  pieces_[memory] = {bytes, slab};
  return memory;
}

bool DevicePool::prepare(std::int64_t bytes) {
  return bytes == 0 || addSlab((bytes + kDeviceGrain - 1) / kDeviceGrain * kDeviceGrain);
}

bool DevicePool::addSlab(std::int64_t bytes) {
  if (bytes <= 0 || bytes > options_.limitBytes - use_.reserved) return false;
  Slab slab;
  try {
    slab.memory = static_cast<char*>(device_.allocate(options_.space, bytes));
  } catch (const DeviceError& error) {
    // The device has less than the limit says: the same to whoever asks as having reached the limit.
    if (error.fault != DeviceFault::OutOfMemory) throw;
    return false;
  }
  slab.bytes = bytes;
  slabs_.push_back(slab);
  use_.reserved += bytes;
  return true;
}

bool DevicePool::trim() {
  std::vector<char> goes(slabs_.size(), 0);
  bool any = false;
  for (std::size_t n = 0; n < slabs_.size(); ++n) {
    goes[n] = slabs_[n].memory != nullptr && slabs_[n].piecesInUse == 0 ? 1 : 0;
    any = any || goes[n] != 0;
  }
  if (!any) return false;
  for (std::size_t n = 0; n < marks_.size(); ++n) device_.synchronize({static_cast<std::int32_t>(n)});
  const auto isGone = [&](char* memory) { return goes[pieces_.at(memory).slab] != 0; };
  for (auto& [size, pieces] : free_) {
    std::erase_if(pieces, [&](const FreePiece& piece) { return isGone(piece.memory); });
  }
  std::erase_if(pieces_, [&](const auto& entry) { return goes[entry.second.slab] != 0; });
  for (std::size_t n = 0; n < slabs_.size(); ++n) {
    if (goes[n] == 0) continue;
    device_.release(options_.space, slabs_[n].memory);
    use_.reserved -= slabs_[n].bytes;
    slabs_[n] = {};
  }
  return true;
}

}  // namespace tessera
