#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/lock_free/submissions.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::detail {

/// What the lanes of other devices hand to one plan of a lane: that a task which a task of theirs waits for
/// has been launched, and behind which events.
///
/// Invariants. Each edge between two lanes has an entry here, at the side of who waits. In a step it is given
/// once and taken once:
///
/// * From the begin of the step until `give` it belongs to the one inside the giver's `serve`, which writes
///   it; from then until all lanes have launched the step to the one inside the taker's.
/// * The taker's task counts the edge among what it waits for. So a lane that has launched all of its tasks
///   has taken all that is ever given to it in this step, and nothing is on its way once all lanes have: then
///   alone they begin the next.
///
/// Memory order. `give` writes the entry, then pushes it with release; `takeAll` takes it with acquire. An
/// entry is written again after the taker has read it, since the taker's count of launches (release) is read
/// (acquire) by whoever begins the next step, and that before anything of it is submitted.
class PeerArrivals {
 public:
  /// An edge, as the one who waits sees it.
  struct Edge {
    std::int32_t task = 0;      ///< that waits
    std::int32_t lane = 0;      ///< of the one it waits for
    std::int32_t peerTask = 0;  ///< the one it waits for, in that lane
    std::int32_t parts = 1;     ///< of the one it waits for: streams that it goes into
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  /// An event behind a part of a task.
  struct Mark {
    DeviceEvent event;        ///< none: the part is done, as the host has seen
    std::int32_t stream = 0;  ///< of the giver
    std::int64_t covers = 0;  ///< launches of that stream
  };

  /// Edges ascend; entry n is that of edge n. Tasks are below `tasks`.
  PeerArrivals(std::vector<Edge> edges, std::size_t tasks);

  std::span<const Edge> edges() const { return edges_; }
  /// The entries of a task are [first, first + count).
  std::int32_t firstOf(std::int32_t task) const { return begin_[static_cast<std::size_t>(task)]; }
  std::int32_t countOf(std::int32_t task) const {
    return begin_[static_cast<std::size_t>(task) + 1] - begin_[static_cast<std::size_t>(task)];
  }

  /// By part; see the invariants for who may touch them.
  std::span<Mark> marks(std::int32_t entry);
  /// The giver, whose marks are written.
  void give(std::int32_t entry) { given_.push(entry); }
  /// The taker: calls `take(task)` for each entry that was given since, with the task that waits.
  template <class Take>
  void takeAll(const Take& take) {
    given_.takeAll([&](std::int32_t entry) { take(edges_[static_cast<std::size_t>(entry)].task); });
  }

 private:
  std::vector<Edge> edges_;
  std::vector<std::int32_t> begin_;      ///< by task
  std::vector<std::int32_t> markBegin_;  ///< by entry
  std::vector<Mark> marks_;
  Submissions<> given_;
};

}  // namespace tessera::detail
