#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/text/contracts.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/device_store.hpp"
#include "scheduler/device/lane/launch_profiler.hpp"
#include "scheduler/device/memory/device_pager.hpp"
#include "taskgraph/moves/node_access.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// The launches of one plan on the one device of a rank, where its memory does not hold all variables: which
/// pieces of memory each node touches, when each piece is touched next, and launches in groups that fit.
///
/// Nodes of a step are expected in the order of the step before. What has been launched is known, so a node
/// that comes late is still to come; only before the second step of a plan nothing is concluded from the
/// order. Thread rule: one thread at a time.
class DevicePaging final : private UseForecast {
 public:
  /// `nodes`: of the placed graph, by task of the lane. `pager` has the memory of `store`. All outlives the
  /// object, but for `device`, its name for people.
  DevicePaging(const CompiledGraphs& graphs, std::size_t plan, const PlacedGraph& placed, DataWarehouse& data,
               const DeviceStore& store, DevicePager& pager, std::span<const std::int32_t> nodes,
               LaunchProfiler& watch, std::string device);

  /// Before the first launch of a step, when Old is where it is needed. Throws DeviceFault::OutOfMemory where
  /// a node touches more than there is memory for.
  void begin();
  /// After the last launch of a step.
  void end();
  /// Calls `put(some)` for tasks of the lane, some at a time, with all that they touch on the device.
  template <class Put>
  void launch(std::span<const std::int32_t> tasks, std::span<const DeviceStream> streams, const Put& put) {
    inGroups(
        tasks, streams, [&](std::int32_t task) { return usesOf(*now_, task); },
        [](std::int32_t) { TESSERA_EXPECT(false, "look before a step whether each task fits"); },
        [&](std::span<const std::int32_t> some) {
          put(some);
          for (const std::int32_t task : some) launched_[static_cast<std::size_t>(task)] = count_++;
        });
  }
  /// Between steps: calls `put(some)` for own patches whose Old value of a variable is copied to the device
  /// (`access` is Change) or from it (Read), some at a time.
  template <class Put>
  void copy(LabelId label, PieceAccess access, std::span<const std::int32_t> locals, DeviceStream stream,
            const Put& put) {
    pager_.begin(nullptr, shown_);
    PieceUse use;
    const auto useOf = [&](std::int32_t local) {
      use = {pieceOf(Generation::Old, label, local), access};
      return std::span<const PieceUse>(&use, 1);
    };
    inGroups(
        locals, std::span(&stream, 1), useOf, [&](std::int32_t local) { refuseCopy(label, local); }, put);
  }

 private:
  /// A node that touches a piece.
  struct Toucher {
    std::int32_t task = 0;
    PieceAccess access = PieceAccess::Read;
  };
  /// For one way in which generations lie in memory.
  struct Uses {
    std::vector<std::int32_t> begin;       ///< by task, and one more
    std::vector<PieceUse> byTask;          ///< pieces are numbered as the pager does
    std::vector<std::int32_t> pieceBegin;  ///< by piece, and one more
    std::vector<Toucher> byPiece;          ///< in the order in which they are expected
    std::vector<char> dies;                ///< by piece: nobody needs it when all of them are launched
    std::vector<std::int32_t> unborn;      ///< pieces of which nobody reads what was there before the step
  };

  Outlook of(std::int32_t piece) override;

  template <class UsesOf, class Refuse, class Put>
  void inGroups(std::span<const std::int32_t> items, std::span<const DeviceStream> streams,
                const UsesOf& usesOfItem, const Refuse& refuseItem, const Put& put) {
    for (std::size_t first = 0; first < items.size();) {
      std::size_t end = first;
      pager_.open();
      const auto room = [&] { return end == first ? GroupRoom::All : GroupRoom::Eighth; };
      while (end < items.size() && pager_.take(usesOfItem(items[end]), room())) ++end;
      if (end == first) return refuseItem(items[end]);
      pager_.makeResident(streams);
      put(items.subspan(first, end - first));
      pager_.close(streams);
      first = end;
    }
  }
  std::span<const PieceUse> usesOf(const Uses& uses, std::int32_t task) const {
    const auto n = static_cast<std::size_t>(task);
    return std::span(uses.byTask)
        .subspan(static_cast<std::size_t>(uses.begin[n]),
                 static_cast<std::size_t>(uses.begin[n + 1] - uses.begin[n]));
  }

  std::vector<std::int32_t> configuration() const;
  Uses makeUses() const;
  void expectToFit(const Uses& uses) const;
  [[noreturn]] void refuse(const std::string& what, std::int64_t bytes) const;
  [[noreturn]] void refuseCopy(LabelId label, std::int32_t local) const;
  void sortByPiece(Uses& uses) const;
  void noteLives(Uses& uses) const;
  void noteLife(Uses& uses, LabelId label, std::int32_t local, bool isWritten) const;
  void addNode(std::vector<PieceUse>& touched, std::int32_t node) const;
  PieceAccess pieceAccessOf(const NodeAccess& access) const;
  void addGather(std::vector<PieceUse>& touched, std::int32_t buffer, PieceAccess access) const;
  void add(std::vector<PieceUse>& touched, Generation generation, LabelId label, std::int32_t local,
           PieceAccess access) const;
  static void touch(std::vector<PieceUse>& touched, std::int32_t piece, PieceAccess access);
  std::int32_t pieceOf(Generation generation, LabelId label, std::int32_t local) const {
    return pager_.pieceAt(store_.memoryOf(generation, label, static_cast<std::size_t>(local)));
  }

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  const std::size_t plan_;
  const PlacedGraph& placed_;
  DataWarehouse& data_;
  const MoveBuilder moves_;
  const DeviceStore& store_;
  DevicePager& pager_;
  const std::span<const std::int32_t> nodes_;
  DevicePager::Shown shown_;
  const std::string device_;
  std::map<std::vector<std::int32_t>, Uses> known_;  ///< by placing
  const Uses* now_ = nullptr;                        ///< null between steps
  std::vector<std::int32_t> order_;                  ///< by task: position among all, as expected
  std::vector<std::int32_t> launched_;               ///< by task: position in this step; -1: still to come
  std::int32_t count_ = 0;                           ///< of launched ones
  bool isLearned_ = false;                           ///< `order_` is that of a step
  std::vector<std::int32_t> next_;  ///< by piece: the first of its touchers that may be still to come
};

}  // namespace tessera::detail
