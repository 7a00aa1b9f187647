#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/device/backend/emulated_queue.hpp"

namespace tessera::detail {

/// Captured work of an emulated device, in an order that keeps each stream's.
struct EmulatedGraph {
  struct Piece {
    EmulatedWork work;
    std::int32_t stream = 0;      ///< in the order of joining; 0: what the capture began with
    std::int32_t completes = -1;  ///< a record, counted from 0
    std::int32_t waitsFor = -1;   ///< likewise
  };
  std::vector<Piece> pieces;
  std::int32_t streamCount = 1;
  std::int32_t recordCount = 0;
};

/// Takes what is put into the streams of a capture of an emulated device, by the rules that a GPU has.
class EmulatedCapture {
 public:
  explicit EmulatedCapture(DeviceStream first);

  bool has(DeviceStream stream) const { return numbers_.contains(stream.number); }
  /// Into a stream of the capture.
  void add(DeviceStream stream, EmulatedWork work);
  void record(DeviceStream stream, DeviceEvent event);
  /// The stream joins, if it is none of the capture. Throws InternalError for an event of another capture.
  void wait(DeviceStream stream, DeviceEvent event);
  /// Throws InternalError where the first stream has not waited for all that others have.
  EmulatedGraph finish();

 private:
  /// By stream: how many of its pieces come before.
  using Clock = std::vector<std::int64_t>;
  struct Record {
    std::int32_t number = 0;
    Clock before;
  };

  std::size_t numberOf(DeviceStream stream) const;
  void put(std::size_t stream, EmulatedGraph::Piece piece);
  static void include(Clock& clock, const Clock& other);

  EmulatedGraph graph_;
  std::map<std::int32_t, std::int32_t> numbers_;  ///< of streams in the graph, by those of the device
  std::vector<Clock> clocks_;                     ///< by stream of the graph
  std::map<std::int32_t, Record> records_;        ///< the last one, by event
};

}  // namespace tessera::detail
