#include "scheduler/device/memory/device_pager.hpp"

#include <algorithm>
#include <limits>

#include "core/text/contracts.hpp"

namespace tessera {

namespace {

/// So many segments at least, where pages are small enough, and so large ones at most: larger ones cost fewer
/// calls of the driver, smaller ones carry less that nobody has asked for.
constexpr std::int64_t kManySegments = 128;
constexpr std::int64_t kLargestSegment = std::int64_t{64} << 20;
/// Parts of the limit: that a group takes, and that is made free beyond what is asked for.
constexpr std::int64_t kGroupPart = 8;
constexpr std::int64_t kSparePart = 32;

std::int64_t segmentBytesOf(const DevicePagerOptions& options) {
  if (options.segmentBytes > 0) return options.segmentBytes;
  return std::clamp<std::int64_t>(options.limitBytes / kManySegments, 1, kLargestSegment);
}

}  // namespace

DevicePager::DevicePager(DeviceBackend& device, DevicePool& swap, const DevicePagerOptions& options)
    : device_(device),
      swap_(swap),
      range_(device.makeAddresses(options.neededBytes, segmentBytesOf(options))),
      segmentBytes_(range_->pieceBytes()),
      capacity_(options.limitBytes / segmentBytes_),
      in_(device.makeStream()),
      out_(device.makeStream()),
      arrived_(device.makeEvent()) {
  const std::int64_t count = (options.neededBytes + segmentBytes_ - 1) / segmentBytes_;
  TESSERA_EXPECT(count <= std::numeric_limits<std::int32_t>::max(), "give a device fewer bytes");
  segments_.resize(static_cast<std::size_t>(count));
  counts_.neededBytes = options.neededBytes;
  counts_.limitBytes = options.limitBytes;
}

DevicePager::~DevicePager() {
  try {
    device_.synchronize(in_);
    device_.synchronize(out_);
  } catch (const DeviceError&) {
    return;  // whoever put the failed work there has been told
  }
}

void* DevicePager::allocate(std::int64_t bytes, std::string_view owner) {
  const std::int64_t size = std::max(kDeviceGrain, (bytes + kDeviceGrain - 1) / kDeviceGrain * kDeviceGrain);
  if (used_ + size > std::ssize(segments_) * segmentBytes_) {
    throw outOfDeviceMemory(asText(device_.info()), owner, bytes, used_, counts_.neededBytes);
  }
  Piece piece;
  piece.first = static_cast<std::int32_t>(used_ / segmentBytes_);
  piece.last = static_cast<std::int32_t>((used_ + size - 1) / segmentBytes_);
  const std::int32_t number = pieceCount();
  for (std::int32_t n = piece.first; n <= piece.last; ++n) {
    if (at(n).lastPiece < 0) at(n).firstPiece = number;
    at(n).lastPiece = number;
  }
  void* memory = range_->begin() + used_;
  numbers_[memory] = number;
  pieces_.push_back(piece);
  used_ += size;
  return memory;
}

void DevicePager::open() {
  ++groupStamp_;
  group_.clear();
  groupUses_.clear();
}

void DevicePager::addToGroup(std::span<const PieceUse> uses) {
  for (const PieceUse& use : uses) {
    const Piece& piece = pieces_[static_cast<std::size_t>(use.piece)];
    for (std::int32_t n = piece.first; n <= piece.last; ++n) {
      if (at(n).group == groupStamp_) continue;
      at(n).group = groupStamp_;
      group_.push_back(n);
    }
  }
}

std::int64_t DevicePager::bytesOf(std::span<const PieceUse> uses) {
  open();
  addToGroup(uses);
  const std::int64_t bytes = std::ssize(group_) * segmentBytes_;
  open();
  return bytes;
}

bool DevicePager::take(std::span<const PieceUse> uses, GroupRoom room) {
  const std::size_t before = group_.size();
  addToGroup(uses);
  const std::int64_t most =
      room == GroupRoom::All ? capacity_ : std::max<std::int64_t>(1, capacity_ / kGroupPart);
  if (std::ssize(group_) > most) {
    for (std::size_t n = before; n < group_.size(); ++n) at(group_[n]).group = 0;
    group_.resize(before);
    return false;
  }
  groupUses_.insert(groupUses_.end(), uses.begin(), uses.end());
  return true;
}

void DevicePager::makeResident(std::span<const DeviceStream> streams) {
  missing_.clear();
  std::int64_t newest = 0;
  for (const std::int32_t n : group_) {
    if (!at(n).isResident) missing_.push_back(n);
    newest = std::max(newest, at(n).arrival);
  }
  if (!missing_.empty()) {
    for (const PieceUse& use : groupUses_) {
      if (use.access == PieceAccess::Overwrite) forget(use.piece);
    }
    std::sort(missing_.begin(), missing_.end());
    makeRoom(std::ssize(missing_));
    fetchMissing();
    newest = arrivals_;
  }
  waitForArrivals(streams, newest);
}

void DevicePager::waitForArrivals(std::span<const DeviceStream> streams, std::int64_t newest) {
  for (const DeviceStream stream : streams) {
    const auto number = static_cast<std::size_t>(stream.number);
    if (number >= waitedFor_.size()) waitedFor_.resize(number + 1, 0);
    if (waitedFor_[number] >= newest) continue;
    device_.wait(stream, arrived_);
    waitedFor_[number] = arrivals_;
  }
}

void DevicePager::close(std::span<const DeviceStream> streams) {
  if (groupUses_.empty()) return;
  forgetDone();
  ++launches_;
  for (const DeviceStream stream : streams) {
    const DeviceEvent event = takeEvent();
    device_.record(event, stream);
    marks_.push_back({launches_, stream, event});
  }
  for (const std::int32_t n : group_) at(n).launched = launches_;
  for (const PieceUse& use : groupUses_) {
    if (use.access == PieceAccess::Read) continue;
    Piece& piece = pieces_[static_cast<std::size_t>(use.piece)];
    piece.isLive = true;
    for (std::int32_t n = piece.first; n <= piece.last; ++n) at(n).isDirty = true;
  }
}

void DevicePager::makeRoom(std::int64_t segments) {
  const std::int64_t least = segments - (capacity_ - resident_);
  if (least <= 0) return;
  chooseVictims(least);
  std::int64_t newest = 0;
  for (const std::int32_t n : victims_) newest = std::max(newest, at(n).launched);
  comeAfterUses(newest);
  const std::int64_t before = counts_.bytesOut;
  {
    std::int64_t copies = 0;
    for (const std::int32_t n : victims_) copies += at(n).isDirty && isNeeded(at(n)) ? 1 : 0;
    LaunchScope scope(*shown_.watch, shown_.out, std::span(&out_, copies > 0 ? 1 : 0), copies);
    for (const std::int32_t n : victims_) copyOut(n);
    scope.carries(counts_.bytesOut - before);
  }
  device_.synchronize(out_);
  unmapVictims();
  ++counts_.rounds;
}

/// Segments that no launch after this one touches, and not the group at hand.
void DevicePager::findCandidates(std::int64_t launch) {
  candidates_.clear();
  for (std::int32_t n = 0; n < std::ssize(segments_); ++n) {
    const Segment& segment = at(n);
    if (!segment.isResident || segment.group == groupStamp_ || segment.launched > launch) continue;
    candidates_.push_back({outlook(segment), n});
  }
}

void DevicePager::chooseVictims(std::int64_t least) {
  // To copy out what the last launch touches would have to wait for it, and for the copies in that it waits
  // for: with anything else the two ways of the bus are in use at once.
  findCandidates(launches_ - 1);
  if (std::ssize(candidates_) < least) findCandidates(launches_);
  TESSERA_EXPECT(std::ssize(candidates_) >= least, "take no more into a group than has room");
  const std::int64_t count = std::min(std::ssize(candidates_), least + capacity_ / kSparePart);
  const auto end = candidates_.begin() + count;
  std::nth_element(candidates_.begin(), end - 1, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.next != b.next ? a.next > b.next : a.segment < b.segment;
                   });
  victims_.clear();
  for (auto candidate = candidates_.begin(); candidate != end; ++candidate) {
    victims_.push_back(candidate->segment);
  }
  std::sort(victims_.begin(), victims_.end());
}

/// When the first piece of it that holds something, or will, is touched next.
std::int64_t DevicePager::outlook(const Segment& segment) {
  if (forecast_ == nullptr) return -segment.launched;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  bool needed = false;
  for (std::int32_t n = segment.firstPiece; n <= segment.lastPiece; ++n) {
    const UseForecast::Outlook piece = forecast_->of(n);
    next = std::min(next, piece.next);
    needed = needed || (piece.isNeeded && pieces_[static_cast<std::size_t>(n)].isLive);
  }
  // What is not needed goes first: it costs no copy, neither now nor when it comes back.
  return needed ? next : std::numeric_limits<std::int64_t>::max();
}

bool DevicePager::isNeeded(const Segment& segment) {
  for (std::int32_t n = segment.firstPiece; n <= segment.lastPiece; ++n) {
    Piece& piece = pieces_[static_cast<std::size_t>(n)];
    if (piece.isLive && forecast_ != nullptr && !forecast_->of(n).isNeeded) piece.isLive = false;
    if (piece.isLive) return true;
  }
  return false;
}

/// The copies to the host come after all launches up to this one: the last of each stream tells for those
/// before it.
void DevicePager::comeAfterUses(std::int64_t launch) {
  forgetDone();
  std::vector<DeviceStream> seen;
  for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
    if (mark->launch > launch) continue;
    if (std::find(seen.begin(), seen.end(), mark->stream) != seen.end()) continue;
    seen.push_back(mark->stream);
    device_.wait(out_, mark->event);
  }
}

void DevicePager::copyOut(std::int32_t number) {
  Segment& segment = at(number);
  ++counts_.evictions;
  if (!isNeeded(segment)) {
    segment.isCopied = false;
    ++counts_.dropped;
  } else if (segment.isDirty) {
    if (segment.swap == nullptr) {
      segment.swap =
          static_cast<std::byte*>(swap_.allocate(out_, segmentBytes_, "variables that left the device"));
    }
    device_.copy(out_, CopyDirection::DeviceToHost, segment.swap, address(number), segmentBytes_);
    segment.isCopied = true;
    counts_.bytesOut += segmentBytes_;
  } else {
    ++counts_.dropped;
  }
  segment.isDirty = false;
}

void DevicePager::unmapVictims() {
  for (std::size_t begin = 0; begin < victims_.size();) {
    std::size_t end = begin;
    while (end < victims_.size() && victims_[end] == victims_[begin] + std::int32_t(end - begin)) {
      at(victims_[end++]).isResident = false;
    }
    range_->unmap(victims_[begin] * segmentBytes_, std::int64_t(end - begin) * segmentBytes_);
    begin = end;
  }
  resident_ -= std::ssize(victims_);
}

void DevicePager::fetchMissing() {
  const std::int64_t before = counts_.bytesIn;
  LaunchScope scope(*shown_.watch, shown_.in, std::span(&in_, 1), std::ssize(missing_));
  for (std::size_t begin = 0; begin < missing_.size();) {
    std::size_t end = begin + 1;
    while (end < missing_.size() && missing_[end] == missing_[end - 1] + 1) ++end;
    fetchRun(begin, end);
    begin = end;
  }
  scope.carries(counts_.bytesIn - before);
  device_.record(arrived_, in_);
  ++arrivals_;
}

void DevicePager::fetchRun(std::size_t begin, std::size_t end) {
  const auto count = static_cast<std::int64_t>(end - begin);
  range_->map(missing_[begin] * segmentBytes_, count * segmentBytes_);
  resident_ += count;
  for (std::size_t n = begin; n < end; ++n) copyIn(missing_[n]);
}

void DevicePager::copyIn(std::int32_t number) {
  Segment& segment = at(number);
  segment.isResident = true;
  segment.arrival = arrivals_ + 1;
  if (segment.isCopied && isNeeded(segment)) {
    device_.copy(in_, CopyDirection::HostToDevice, address(number), segment.swap, segmentBytes_);
    counts_.bytesIn += segmentBytes_;
    return;
  }
  segment.isCopied = false;
  device_.fill(in_, address(number), 0xFF, segmentBytes_);
}

void DevicePager::forgetDone() {
  while (!marks_.empty()) {
    const DeviceEvent event = marks_.front().event;
    if (!device_.isDone(event)) return;
    spareEvents_.push_back(event);
    marks_.pop_front();
  }
}

DeviceEvent DevicePager::takeEvent() {
  if (spareEvents_.empty()) return device_.makeEvent();
  const DeviceEvent event = spareEvents_.back();
  spareEvents_.pop_back();
  return event;
}

}  // namespace tessera
