#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datawarehouse/device_store.hpp"
#include "scheduler/device/lane/launch_profiler.hpp"
#include "scheduler/device/memory/device_paging_counts.hpp"
#include "scheduler/device/memory/device_pool.hpp"

namespace tessera {

/// What a launch does with a piece of memory.
enum class PieceAccess : std::uint8_t {
  Read,
  Change,     ///< writes some of it, or all of it from what is there
  Overwrite,  ///< writes all of it that anybody reads afterwards
};

/// A piece of memory, as the pager numbers them, that a launch touches.
struct PieceUse {
  std::int32_t piece = -1;
  PieceAccess access = PieceAccess::Read;
};

/// What is known of the launches to come.
class UseForecast {
 public:
  /// Of one piece.
  struct Outlook {
    std::int64_t next = 0;  ///< the larger, the later it is touched next
    bool isNeeded = true;   ///< what is in it now will be read
  };
  virtual ~UseForecast() = default;
  virtual Outlook of(std::int32_t piece) = 0;
};

/// How much of the limit a group may take.
enum class GroupRoom : std::uint8_t {
  All,     ///< the first work of it, which is launched in any case
  Eighth,  ///< with what is added
};

/// What a pager may take, and how it goes about it.
struct DevicePagerOptions {
  std::int64_t limitBytes = 0;
  std::int64_t neededBytes = 0;   ///< that will be allocated, each piece rounded up to 256 bytes
  std::int64_t segmentBytes = 0;  ///< 0: so that there are about a hundred segments or more
};

/// Memory for more variables than fit on a device. Pieces have addresses that stay; memory is behind those
/// that the launches at hand touch, and what others hold lies in pinned memory of the host meanwhile.
///
///   for (work = first;;) {
///     pager.open();
///     GroupRoom room = GroupRoom::All;
///     while (more && pager.take(usesOf(work), room)) {      // nothing, or all that the work touches
///       room = GroupRoom::Eighth;
///       ++work;
///     }
///     pager.makeResident(streams);                          // copies; the streams wait for them
///     launch(...);
///     pager.close(streams);
///   }
///
/// Copies out come after the launches that touch a segment, and launches after copies in, on the device.
///
/// Addresses are cut into segments of equal size, which are moved as a whole, with halos and padding, so no
/// bit can change. Who has to go is the one that the forecast says is touched last of all, among those that
/// the launch before does not touch; with it go some more at once (1/32 of the limit), since making room
/// waits for the device. A segment that has a copy on the host and was not written since, or that nobody
/// needs any more, goes without being copied.
///
/// New memory is 0xFF. Thread rule: the backend's.
class DevicePager final : public DeviceMemory {
 public:
  /// `swap` is of DeviceSpace::PinnedHost; both outlive the pager.
  DevicePager(DeviceBackend& device, DevicePool& swap, const DevicePagerOptions& options);
  /// Waits for the copies. Nothing else uses the memory any more.
  ~DevicePager() override;

  /// The next addresses; no memory yet.
  void* allocate(std::int64_t bytes, std::string_view owner) override;
  void free(void* /*memory*/) override {}
  /// The number of the piece that was allocated here.
  std::int32_t pieceAt(const void* memory) const { return numbers_.at(memory); }
  std::int32_t pieceCount() const { return static_cast<std::int32_t>(pieces_.size()); }

  /// Whose launches come now; null: not known. Copies are shown as launches `in` and `out` of `watch`.
  struct Shown {
    LaunchProfiler* watch = nullptr;
    std::int32_t in = 0;
    std::int32_t out = 0;
  };
  void begin(UseForecast* forecast, const Shown& shown) {
    forecast_ = forecast;
    shown_ = shown;
  }
  /// What is in the piece is not needed any more, whatever is touched next.
  void forget(std::int32_t piece) { pieces_[static_cast<std::size_t>(piece)].isLive = false; }

  /// Begins a group of work that is launched together.
  void open();
  /// Whether the group, with work that touches this, takes no more than `room`. Where it would, it is as
  /// before.
  bool take(std::span<const PieceUse> uses, GroupRoom room);
  /// That work needs which is alone in its group, in whole segments. No group is open afterwards.
  std::int64_t bytesOf(std::span<const PieceUse> uses);
  /// Work put into these streams from now on finds the group in the device's memory. May wait for devices.
  void makeResident(std::span<const DeviceStream> streams);
  /// The group was launched into these streams.
  void close(std::span<const DeviceStream> streams);

  const DevicePagingCounts& counts() const { return counts_; }
  std::int64_t segmentBytes() const { return segmentBytes_; }
  /// In use now, and the most that there may be.
  std::int64_t residentSegments() const { return resident_; }
  std::int64_t capacity() const { return capacity_; }

 private:
  struct Piece {
    std::int32_t first = 0;  ///< segment
    std::int32_t last = 0;
    bool isLive = false;  ///< holds something that was written
  };
  struct Segment {
    std::byte* swap = nullptr;    ///< on the host; null: never left
    std::int32_t firstPiece = 0;  ///< those that lie in it, also in part
    std::int32_t lastPiece = -1;
    bool isResident = false;
    bool isCopied = false;      ///< `swap` has what the segment last held when it was clean
    bool isDirty = false;       ///< written since
    std::int64_t group = 0;     ///< the last that has it
    std::int64_t arrival = 0;   ///< number of the copy that brought it
    std::int64_t launched = 0;  ///< number of the last launch that touches it
  };
  /// An event behind a launch.
  struct Mark {
    std::int64_t launch = 0;
    DeviceStream stream;
    DeviceEvent event;
  };
  struct Candidate {
    std::int64_t next = 0;
    std::int32_t segment = 0;
  };

  void addToGroup(std::span<const PieceUse> uses);
  void makeRoom(std::int64_t segments);
  void findCandidates(std::int64_t launch);
  void chooseVictims(std::int64_t least);
  std::int64_t outlook(const Segment& segment);
  bool isNeeded(const Segment& segment);
  void comeAfterUses(std::int64_t launch);
  void copyOut(std::int32_t number);
  void unmapVictims();
  void fetchMissing();
  void fetchRun(std::size_t begin, std::size_t end);
  void copyIn(std::int32_t number);
  void waitForArrivals(std::span<const DeviceStream> streams, std::int64_t newest);
  void forgetDone();
  DeviceEvent takeEvent();
  Segment& at(std::int32_t segment) { return segments_[static_cast<std::size_t>(segment)]; }
  std::byte* address(std::int32_t segment) const { return range_->begin() + segment * segmentBytes_; }

  DeviceBackend& device_;
  DevicePool& swap_;
  const std::unique_ptr<DeviceAddresses> range_;
  const std::int64_t segmentBytes_;
  const std::int64_t capacity_;  ///< segments
  const DeviceStream in_;
  const DeviceStream out_;
  const DeviceEvent arrived_;
  UseForecast* forecast_ = nullptr;
  Shown shown_;
  std::vector<Segment> segments_;
  std::vector<Piece> pieces_;
  std::unordered_map<const void*, std::int32_t> numbers_;
  std::int64_t used_ = 0;  ///< bytes that have been allocated
  std::int64_t resident_ = 0;
  std::int64_t groupStamp_ = 0;      ///< number of the group at hand
  std::vector<std::int32_t> group_;  ///< its segments
  std::vector<PieceUse> groupUses_;
  std::vector<std::int32_t> missing_;
  std::vector<std::int32_t> victims_;
  std::vector<Candidate> candidates_;
  std::int64_t arrivals_ = 0;
  std::vector<std::int64_t> waitedFor_;  ///< by stream: arrivals that all later work there comes after
  std::vector<DeviceEvent> spareEvents_;
  std::int64_t launches_ = 0;
  std::deque<Mark> marks_;  ///< ascending by launch; not known to be done
  DevicePagingCounts counts_;
};

}  // namespace tessera
