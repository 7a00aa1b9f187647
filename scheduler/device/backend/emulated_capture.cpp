#include "scheduler/device/backend/emulated_capture.hpp"

#include <algorithm>
#include <utility>

#include "core/text/contracts.hpp"

namespace tessera::detail {

EmulatedCapture::EmulatedCapture(DeviceStream first) : numbers_{{first.number, 0}}, clocks_{{0}} {}

std::size_t EmulatedCapture::numberOf(DeviceStream stream) const {
  return static_cast<std::size_t>(numbers_.at(stream.number));
}

void EmulatedCapture::include(Clock& clock, const Clock& other) {
  clock.resize(std::max(clock.size(), other.size()), 0);
  for (std::size_t n = 0; n < other.size(); ++n) clock[n] = std::max(clock[n], other[n]);
}

void EmulatedCapture::put(std::size_t stream, EmulatedGraph::Piece piece) {
  piece.stream = static_cast<std::int32_t>(stream);
  ++clocks_[stream][stream];
  graph_.pieces.push_back(std::move(piece));
}

void EmulatedCapture::add(DeviceStream stream, EmulatedWork work) {
  put(numberOf(stream), {std::move(work), 0, -1, -1});
}

void EmulatedCapture::record(DeviceStream stream, DeviceEvent event) {
  const std::size_t number = numberOf(stream);
  const std::int32_t record = graph_.recordCount++;
  put(number, {{}, 0, record, -1});
  records_[event.number] = {record, clocks_[number]};
}

void EmulatedCapture::wait(DeviceStream stream, DeviceEvent event) {
  const auto found = records_.find(event.number);
  TESSERA_EXPECT(found != records_.end(), "wait for events of the same capture");
  if (!has(stream)) {
    numbers_[stream.number] = graph_.streamCount++;
    clocks_.emplace_back(static_cast<std::size_t>(graph_.streamCount), 0);
  }
  const std::size_t number = numberOf(stream);
  put(number, {{}, 0, -1, found->second.number});
  include(clocks_[number], found->second.before);
}

EmulatedGraph EmulatedCapture::finish() {
  Clock& first = clocks_.front();
  first.resize(clocks_.size(), 0);
  for (std::size_t stream = 1; stream < clocks_.size(); ++stream) {
    TESSERA_EXPECT(first[stream] >= clocks_[stream][stream],
                   "let the first stream of a capture wait for all others before it ends");
  }
  return std::move(graph_);
}

}  // namespace tessera::detail
