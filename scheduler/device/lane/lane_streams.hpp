#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"

namespace tessera {

/// What a lane has done since it was made.
struct LaneCounts {
  std::int64_t tasks = 0;
  std::int64_t launches = 0;
  std::int64_t records = 0;    ///< of events
  std::int64_t waits = 0;      ///< of a stream for another
  std::int64_t peerWaits = 0;  ///< of a stream for one of another device
  std::int64_t queries = 0;    ///< of events, by the host
};

namespace detail {

/// The streams of a lane, their events, and who has waited for whom, so that nothing is waited for twice.
///
/// Launches of a stream are counted from 1. For each pair of streams it is known up to which launch of the
/// one all later work of the other comes after. An event takes along what its stream knows when it is
/// recorded: who waits for the event comes after all that, too.
///
/// Steps. All that a step puts into streams comes after all that was there when it began. Its begin gathers
/// the streams in the first one; each other waits for that when the step first uses it (`waitForBegin`).
/// Where devices meet before a step, a stream of its own may wait for the others (`noteMeeting`): what need
/// not come after them starts without.
///
/// One thread at a time, on a device that is bound to it.
class LaneStreams {
 public:
  /// A launch of a stream.
  struct LaunchPosition {
    std::int32_t stream = 0;
    std::int64_t launch = 0;
  };
  /// A recorded event: all launches of its stream up to `covers` are done when it is.
  struct Mark {
    DeviceEvent event;
    std::int64_t covers = 0;
    std::int32_t slot = 0;  ///< of the event, among those of the lane
  };

  /// `count` streams, the last an urgent one.
  LaneStreams(DeviceBackend& device, std::int32_t count, LaneCounts& counts);

  std::int32_t size() const { return static_cast<std::int32_t>(streams_.size()); }
  DeviceStream handle(std::int32_t stream) const { return at(stream).handle; }
  /// What is put into the stream next is its next launch.
  LaunchPosition addLaunch(std::int32_t stream) { return {stream, ++at(stream).launched}; }
  /// Whether nothing has been put into the stream since.
  bool isLast(const LaunchPosition& place) const { return at(place.stream).launched == place.launch; }

  /// All that `stream` is given from now on comes after that launch.
  void waitFor(std::int32_t stream, const LaunchPosition& place);
  /// ... after all that was in any stream when the step began.
  void waitForBegin(std::int32_t stream) { waitFor(stream, {0, begin_}); }
  /// ... after what the last meeting comes after.
  void waitForBarrier(std::int32_t stream) { waitFor(stream, barrier_); }
  /// Begins a step. The host waits until the device has begun the step `ahead` before it.
  void beginStep(std::int32_t ahead);
  /// All that the first stream is given from now on comes after all that is in any.
  void gather() { gather(size()); }
  /// What `stream` has been made to wait for (`waitForPeer`) since streams were gathered is a meeting of
  /// devices. In the first stream the step that begins next comes after it.
  void noteMeeting(std::int32_t stream);
  /// The first recorded event behind that launch; recorded now where there is none. Without an event where it
  /// is known to be done.
  Mark markOf(const LaunchPosition& place);
  Mark lastOfFirst() { return markOf({0, streams_.front().launched}); }

  /// Makes `stream` wait for a mark of another device's lane; `from` is the number of that lane's stream
  /// among those of all lanes. False where it need not.
  bool waitForPeer(std::int32_t stream, DeviceBackend& peer, std::size_t from, DeviceEvent event,
                   std::int64_t covers);
  /// So many streams have the lanes with which this one is connected.
  void connect(std::size_t streams);

  /// The host wants to know when this launch, the last of its stream, is done; `number` is the caller's.
  void watch(std::int32_t stream, std::int32_t number) {
    at(stream).watched.push_back({at(stream).launched, number});
  }
  /// Puts one event behind all that is watched and has none.
  void markWatched();
  /// Asks the device: calls `done(number)` for all that is watched and has been done. True if anything was.
  template <class Done>
  bool poll(const Done& done);
  void synchronize();

 private:
  struct Watched {
    std::int64_t launch = 0;
    std::int32_t number = 0;
  };
  struct Stream {
    DeviceStream handle;
    std::int64_t launched = 0;            ///< launches so far; also the number of the last one
    std::int64_t done = 0;                ///< launches known to be done
    std::deque<Mark> marks;               ///< recorded, not known to be done
    std::deque<Watched> watched;          ///< in the order of launches
    std::vector<std::int64_t> waitedFor;  ///< by stream: launches there that all later work here comes after
    std::vector<std::int64_t> waitedForPeers;  ///< likewise, by stream of all lanes
    std::int64_t covers = 0;                   ///< while gathering: of how many others it comes after all
  };
  /// Marks of a stream that nobody watches are looked at when there are so many of them.
  static constexpr std::size_t kManyMarks = 16;

  Stream& at(std::int32_t stream) { return streams_[static_cast<std::size_t>(stream)]; }
  const Stream& at(std::int32_t stream) const { return streams_[static_cast<std::size_t>(stream)]; }
  std::span<std::int64_t> knownTo(std::int32_t slot) {
    return std::span(known_).subspan(static_cast<std::size_t>(slot) * streams_.size(), streams_.size());
  }
  void takeDone(std::int32_t number, std::int64_t until);
  /// But for what is in stream `but`.
  void gather(std::int32_t but);

  DeviceBackend& device_;
  LaneCounts& counts_;
  std::vector<Stream> streams_;
  std::vector<DeviceEvent> events_;   ///< by slot
  std::vector<std::int64_t> known_;   ///< by slot: what its stream had waited for when it was recorded
  std::vector<std::int32_t> spare_;   ///< slots
  std::vector<std::int32_t> others_;  ///< streams, while gathering
  std::deque<std::int64_t> begins_;   ///< of the last steps: launches of the first stream
  std::int64_t begin_ = 0;            ///< of this step
  LaunchPosition barrier_;            ///< the last
};

template <class Done>
bool LaneStreams::poll(const Done& done) {
  bool any = false;
  for (std::int32_t n = 0; n < size(); ++n) {
    Stream& stream = at(n);
    if (!stream.watched.empty()) takeDone(n, stream.watched.back().launch);
    if (stream.marks.size() >= kManyMarks) takeDone(n, stream.launched);
    while (!stream.watched.empty() && stream.watched.front().launch <= stream.done) {
      const std::int32_t number = stream.watched.front().number;
      stream.watched.pop_front();
      any = true;
      done(number);
    }
  }
  return any;
}

}  // namespace detail
}  // namespace tessera
