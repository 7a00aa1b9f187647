#include "scheduler/device/lane/peer_arrivals.hpp"

#include <utility>

namespace tessera::detail {

PeerArrivals::PeerArrivals(std::vector<Edge> edges, std::size_t tasks)
    : edges_(std::move(edges)), begin_(tasks + 1, 0), given_(edges_.size()) {
  std::int32_t marks = 0;
  for (const Edge& edge : edges_) {
    ++begin_[static_cast<std::size_t>(edge.task) + 1];
    markBegin_.push_back(marks);
    marks += edge.parts;
  }
  for (std::size_t n = 1; n < begin_.size(); ++n) begin_[n] += begin_[n - 1];
  marks_.resize(static_cast<std::size_t>(marks));
}

std::span<PeerArrivals::Mark> PeerArrivals::marks(std::int32_t entry) {
  const auto n = static_cast<std::size_t>(entry);
  return std::span(marks_).subspan(static_cast<std::size_t>(markBegin_[n]),
                                   static_cast<std::size_t>(edges_[n].parts));
}

}  // namespace tessera::detail
