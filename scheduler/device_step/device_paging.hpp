#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/text/contracts.hpp"
#include "scheduler/device/lane/launch_watch.hpp"
#include "scheduler/device/memory/pager_group.hpp"
#include "scheduler/device_step/device_side.hpp"
#include "taskgraph/moves/node_access.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// The launches of one plan on the devices of a rank, where the memory of some does not hold all variables:
/// which pieces of memory each node touches, on its own device and on others whose values it reads, when each
/// is touched next, and launches in groups that fit.
///
/// When: nodes of a step are expected in the order of the step before, that of all devices together. What has
/// been launched is known, so a node that comes late is still to come; only before the second step of a plan
/// nothing is concluded from the order. Thread rule: one thread at a time, whichever lane it serves; or
/// between steps.
class DevicePaging final {
 public:
  /// The plan on one device.
  struct Part {
    DeviceSide* side = nullptr;
    std::span<const std::int32_t> nodes;  ///< of the placed graph, by task of the lane
    LaunchWatch* watch = nullptr;
  };
  /// `parts`: by slot. What they name and all else outlives the object.
  DevicePaging(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed, DataWarehouse& data,
               std::span<const Part> parts);

  /// Before the first launch of a step on any device, when Old is where it is needed. Throws
  /// DeviceFault::OutOfMemory where a node touches more on a device than there is memory for.
  void begin();
  /// After the last of all.
  void end();
  /// Calls `put(some)` for tasks of the lane at `slot`, some at a time, with all that they touch on devices.
  template <class Put>
  void launch(std::size_t slot, std::span<const std::int32_t> tasks, std::span<const DeviceStream> streams,
              const Put& put) {
    const std::int32_t first = places_[slot].firstTask;
    inGroups(
        tasks, {*places_[slot].side.backend, streams},
        [&](std::int32_t task, std::size_t on) { return usesOf(first + task, on); },
        [](std::int32_t) { TESSERA_EXPECT(false, "look before a step whether each task fits"); },
        [&](std::span<const std::int32_t> some) {
          put(some);
          for (const std::int32_t task : some) launched_[static_cast<std::size_t>(first + task)] = count_++;
        });
  }
  /// Between steps: the same for own patches of this device, whose Old value of a variable is copied there
  /// (`in`) or from there.
  template <class Put>
  void copy(std::size_t slot, LabelId label, bool in, std::span<const std::int32_t> locals,
            DeviceStream stream, const Put& put) {
    const Place& place = places_[slot];
    if (place.pager == nullptr) return put(locals);
    place.pager->begin(nullptr, place.shown);
    PieceUse use;
    const auto useOf = [&](std::int32_t local, std::size_t on) {
      use = {pieceOf(place, Generation::Old, label, local), in ? PieceAccess::Change : PieceAccess::Read};
      return std::span<const PieceUse>(&use, on == slot ? 1 : 0);
    };
    inGroups(
        locals, {*place.side.backend, std::span(&stream, 1)}, useOf,
        [&](std::int32_t local) { refuseCopy(place, label, local); }, put);
  }

 private:
  /// A device of the rank. Its pieces follow those of the devices before it, and so do its tasks.
  struct Place final : public UseForecast {
    Place(DevicePaging& thePaging, const Part& part)
        : paging(thePaging), side(*part.side), pager(part.side->pager()), nodes(part.nodes) {}
    Outlook of(std::int32_t piece) override { return paging.outlookOf(*this, piece); }
    std::int32_t pieceCount() const { return pager != nullptr ? pager->pieceCount() : 0; }

    DevicePaging& paging;
    DeviceSide& side;
    DevicePager* const pager;  ///< null: all variables fit, and it has no pieces
    const std::span<const std::int32_t> nodes;
    std::int32_t firstTask = 0;
    std::int32_t firstPiece = 0;
    DevicePager::Shown shown;
  };
  /// A node that touches a piece.
  struct Toucher {
    std::int32_t task = 0;
    PieceAccess access = PieceAccess::Read;
  };
  /// What one node touches, by device; pieces are numbered as their pager does.
  using Touched = std::vector<std::vector<PieceUse>>;
  /// For one way in which generations lie in memory.
  struct Uses {
    std::vector<std::int32_t> begin;       ///< by task and, for each, by device; and one more
    std::vector<PieceUse> byTask;          ///< pieces are numbered as their pager does
    std::vector<std::int32_t> pieceBegin;  ///< by piece of all devices, and one more
    std::vector<Toucher> byPiece;          ///< in the order in which they are expected
    std::vector<char> dies;                ///< by piece: nobody needs it when all of them are launched
    std::vector<std::int32_t> unborn;      ///< pieces of which nobody reads what was there before the step
  };

  template <class UsesOf, class Refuse, class Put>
  void inGroups(std::span<const std::int32_t> items, const LaunchSite& site, const UsesOf& usesOfItem,
                const Refuse& refuseItem, const Put& put) {
    for (std::size_t first = 0; first < items.size();) {
      std::size_t end = first;
      group_.open();
      const auto usesIn = [&](std::size_t on) { return usesOfItem(items[end], on); };
      while (end < items.size() && group_.take(usesIn)) ++end;
      if (end == first) return refuseItem(items[end]);
      group_.makeResident(site);
      put(items.subspan(first, end - first));
      group_.close(site);
      first = end;
    }
  }
  std::span<const PieceUse> usesOf(const Uses& uses, std::int32_t task, std::size_t on) const {
    const std::size_t n = static_cast<std::size_t>(task) * places_.size() + on;
    return std::span(uses.byTask)
        .subspan(static_cast<std::size_t>(uses.begin[n]),
                 static_cast<std::size_t>(uses.begin[n + 1] - uses.begin[n]));
  }
  std::span<const PieceUse> usesOf(std::int32_t task, std::size_t on) const {
    return usesOf(*now_, task, on);
  }
  UseForecast::Outlook outlookOf(const Place& place, std::int32_t piece);

  std::vector<std::int32_t> placing() const;
  Uses makeUses() const;
  void expectToFit(const Uses& uses) const;
  [[noreturn]] void refuse(const Place& place, const std::string& what, std::int64_t bytes) const;
  [[noreturn]] void refuseCopy(const Place& place, LabelId label, std::int32_t local) const;
  void sortByPiece(Uses& uses) const;
  void noteLives(Uses& uses) const;
  void noteLife(Uses& uses, LabelId label, std::int32_t local, bool isWritten) const;
  void forget(std::span<const std::int32_t> pieces) const;
  void addNode(Touched& touched, std::int32_t node) const;
  PieceAccess pieceAccessOf(const NodeAccess& access) const;
  void addGather(Touched& touched, const Place& place, std::int32_t buffer, PieceAccess access) const;
  void add(Touched& touched, Generation generation, LabelId label, std::int32_t local,
           PieceAccess access) const;
  void touch(Touched& touched, const Place& place, std::int32_t piece, PieceAccess access) const;
  /// The device that has the values of an own patch.
  const Place& homeOf(std::int32_t local) const {
    return places_[static_cast<std::size_t>(placed_.homes[static_cast<std::size_t>(local)])];
  }
  static std::int32_t pieceOf(const Place& place, Generation generation, LabelId label, std::int32_t local) {
    return place.pager->pieceAt(
        place.side.store.memoryOf(generation, label, static_cast<std::size_t>(local)));
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const std::size_t plan_;
  const PlacedGraph& placed_;
  DataWarehouse& data_;
  const MoveBuilder moves_;
  std::deque<Place> places_;  ///< by slot; pagers hold references
  PagerGroup group_;
  std::int32_t pieceCount_ = 0;
  std::map<std::vector<std::int32_t>, Uses> known_;  ///< by placing
  const Uses* now_ = nullptr;                        ///< null between steps
  std::vector<std::int32_t> order_;                  ///< by task: position among all, as expected
  std::vector<std::int32_t> launched_;               ///< by task: position in this step; -1: still to come
  std::int32_t count_ = 0;                           ///< of launched ones
  bool isLearned_ = false;                           ///< `order_` is that of a step
  std::vector<std::int32_t> next_;  ///< by piece: the first of its touchers that may be still to come
};

}  // namespace tessera::detail
