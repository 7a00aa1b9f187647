#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/moves/region_op.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step/prefetch_list.hpp"
#include "taskgraph/moves/build_moves.hpp"
#include "taskgraph/placement/placed_graph.hpp"

namespace tessera::detail {

/// Carries out the moves of one compiled graph in the memory of the host: halos in place, gathers of other
/// levels into their buffers, halos in scratch windows, and messages into the buffers that are sent. All
/// geometry is settled when it is made, so that a step has none. Rows whose moves have the same places and
/// sizes (most patches of a uniform mesh) share one list; only whose memory it is differs.
///
/// Any number of threads at once, for different rows and messages.
class HostMoves {
 public:
  /// All of them outlive the moves.
  HostMoves(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, const MessagePump& pump);

  /// Row `row` of fill number `fill`; conditions of time hold at `time`. Nothing for a fill into scratch: the
  /// task that reads it has it done.
  void fill(std::int32_t fill, std::int32_t row, double time);
  /// Patch and halo of a fill into scratch, into memory laid out as `layout`.
  void gatherScratch(std::int32_t fill, std::int32_t row, double time, std::byte* memory,
                     const Layout& layout) const;
  /// Puts the items of a send into its buffer, without those that `places` says devices pack; `places` is by
  /// PackItem, or empty.
  void pack(std::int32_t send, std::span<const DeviceAssignment> places) const;
  /// For checked mode: makes the buffer of a gather NaN, so that nothing of its last user is taken for a
  /// value.
  void unset(const FillPlan& fill, std::int32_t row);

  /// Appends the cache lines that `gatherScratch` of a row will read from this rank's patches. `way`: 1 where
  /// the worker goes through the patches upwards, -1 downwards; those that it has passed are left out, since
  /// it has used them not long ago. `local`: own patch of the row.
  void listPrefetches(std::int32_t fill, std::int32_t row, std::int32_t local, std::int32_t way,
                      std::vector<PrefetchLines>& lines) const;
  /// How many entries that appends at the most.
  std::size_t fetchEntries(std::int32_t fill, std::int32_t row) const {
    return listOf(rowOf(fill, row)).fetches.size();
  }

 private:
  /// A part of the border, in indices from the first one of the window.
  struct Border {
    Index first;
    int side = 0;
    ConditionNumber which;  ///< kCoded: what a component codes, on so many indices
    Extent extent{};
    friend bool operator==(const Border&, const Border&) = default;
  };
  struct List {
    std::vector<RegionOp> ops;
    std::vector<Border> borders;  ///< of the conditions among `ops`, in their order
    bool scratch = false;
    PrefetchList
        fetches;  ///< into a scratch window: of the copies among `ops`, that of the patch itself last
    friend bool operator==(const List& a, const List& b) {
      return a.scratch == b.scratch && a.ops == b.ops && a.borders == b.borders;
    }
  };
  /// Whose memory an operation takes from: an own patch, `kTarget`, the message of -2 - from, or the buffer
  /// of a gather of from - kGathers.
  using From = std::int32_t;
  static constexpr From kGathers = 1 << 30;
  static constexpr From kTarget = -1;
  static constexpr ConditionNumber kCoded{-1, 0};
  static constexpr std::int32_t kNothing = -1;
  struct Row {
    std::int32_t list = kNothing;
    std::int64_t firstFrom = 0;  ///< position in `from_` of what its first operation takes from
  };
  struct Packed {
    RegionOp op;
    From from = kTarget;
  };
  /// Where the values of a row go.
  struct Target {
    std::byte* data = nullptr;
    const Layout* layout = nullptr;
  };

  void settleFills();
  void settleMessages();
  Row rowFrom(std::int32_t fill, std::int32_t row, std::span<const Move> moves);
  Layout layoutOf(const MoveRef& ref, LabelId label, const Layout& scratch) const;
  RegionOp operationOf(const Move& move, const Layout& scratch) const;
  void addConditions(List& list, const Move& move, const Layout& target);
  Layout scratchLayoutOf(std::int32_t fill, std::int32_t row) const;
  std::int32_t numberOf(List&& list);
  static From fromOf(const MoveRef& from);

  Target targetOf(std::int32_t fill, std::int32_t row);
  void carryOut(const FillPlan& fill, const Row& row, const Target& to, double time) const;
  void carryOut(const FillPlan& fill, const Border& border, const RegionOp& op, const Target& to,
                double time) const;
  const std::byte* memoryOf(Generation generation, LabelId label, From from) const {
    if (from >= kGathers) return data_.gatherData(plan_, static_cast<std::size_t>(from - kGathers));
    return from >= 0 ? data_.data(generation, label, static_cast<std::size_t>(from))
                     : pump_.receiveBuffer(-2 - from).data();
  }
  const Row& rowOf(std::int32_t fill, std::int32_t row) const {
    return rows_[static_cast<std::size_t>(fill)][static_cast<std::size_t>(row)];
  }
  const List& listOf(const Row& row) const { return lists_[static_cast<std::size_t>(row.list)]; }

  const MoveBuilder moves_;
  const std::size_t plan_;
  DataWarehouse& data_;
  const MessagePump& pump_;
  std::vector<List> lists_;
  std::vector<std::vector<Row>> rows_;  ///< by fill, then row
  std::vector<From> from_;
  std::vector<Packed> packed_;                                  ///< by PackItem
  std::unordered_multimap<std::uint64_t, std::int32_t> known_;  ///< lists by hash, while they are made
};

}  // namespace tessera::detail
