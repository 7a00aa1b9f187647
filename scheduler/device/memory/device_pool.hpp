#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

/// Pieces of device memory are multiples of this many bytes.
inline constexpr std::int64_t kDeviceGrain = 256;

/// What a pool may take, and in which pieces it asks the device for it.
struct DevicePoolOptions {
  DeviceSpace space = DeviceSpace::Device;
  std::int64_t limitBytes = 0;                      ///< never takes more than that
  std::int64_t slabBytes = std::int64_t{64} << 20;  ///< at once; what is larger gets a piece of its own
};

/// What a pool holds, in bytes.
struct DevicePoolUse {
  std::int64_t inUse = 0;
  std::int64_t reserved = 0;   ///< taken from the device; never above the limit
  std::int64_t highWater = 0;  ///< the most that was ever in use
};

/// Memory in the order of streams: what `allocate` gives is for work put into that stream afterwards, and
/// what `free` takes back is free after the work that is in that stream by then. Neither waits for the
/// device.
///
///   void* window = pool.allocate(stream, bytes, "temperature");
///   device.launch(stream, work(window));
///   pool.free(stream, window);              // at once; the device is still at work
///
/// Freed memory is given to the same stream at once; to another stream when the device is done with it, or,
/// where the limit leaves no other, after that stream has been made to wait for it. Pieces are kept by size,
/// so that the windows of patches, which come in few sizes, fit exactly.
///
/// Pinned host memory is written by the host, which no stream makes wait: a piece is given again only when
/// the device is done with it, and where the limit leaves no other, `allocate` waits. Thread rule: the
/// backend's.
class DevicePool {
 public:
  DevicePool(DeviceBackend& device, const DevicePoolOptions& options);
  /// Waits for the streams that memory was freed in, then gives all back. Nothing else may use it any more.
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// At least 256-byte aligned. Throws DeviceFault::OutOfMemory with `owner`, the bytes and the limit.
  void* allocate(DeviceStream stream, std::int64_t bytes, std::string_view owner);
  void free(DeviceStream stream, void* memory);
  /// Takes so much from the device in one piece, for what will be allocated. False: it is not to be had so.
  bool prepare(std::int64_t bytes);
  /// Gives back to the device what nobody uses; waits for work that still does. True: there was some.
  bool trim();
  const DevicePoolUse& use() const { return use_; }
  std::int64_t limitBytes() const { return options_.limitBytes; }
  /// Whether the limit leaves room for so much beside what is in use.
  bool hasRoomFor(std::int64_t bytes) const { return bytes <= options_.limitBytes - use_.inUse; }

 private:
  struct Slab {
    char* memory = nullptr;
    std::int64_t bytes = 0;
    std::int64_t carved = 0;
    std::int64_t piecesInUse = 0;
  };
  struct Piece {
    std::int64_t bytes = 0;
    std::size_t slab = 0;
  };
  struct FreePiece {
    char* memory = nullptr;
    DeviceStream stream;
    std::int64_t freed = 0;  ///< number of the free
  };
  /// An event in a stream, recorded only once another stream asks.
  struct Mark {
    DeviceEvent event;
    std::int64_t covers = -1;  ///< frees up to this number
  };
  using FreePieces = std::vector<FreePiece>;

  char* reuse(FreePieces& pieces, DeviceStream stream);
  char* reuseAfterWaiting(FreePieces& pieces, DeviceStream stream);
  char* carve(std::int64_t bytes);
  char* carveFrom(std::size_t slab, std::int64_t bytes);
  bool addSlab(std::int64_t bytes);
  DeviceEvent markAfter(const FreePiece& piece);
  void hand(char* memory);

  DeviceBackend& device_;
  DevicePoolOptions options_;
  DevicePoolUse use_;
  std::vector<Slab> slabs_;  ///< those given back stay as empty entries
  std::unordered_map<char*, Piece> pieces_;
  std::map<std::int64_t, FreePieces> free_;  ///< by size
  std::vector<Mark> marks_;                  ///< by stream
  std::int64_t frees_ = 0;
};

}  // namespace tessera
