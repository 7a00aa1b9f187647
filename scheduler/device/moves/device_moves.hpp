#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datawarehouse/device_store.hpp"
#include "scheduler/device/backend/pinned_host.hpp"
#include "scheduler/device/moves/message_buffers.hpp"
#include "scheduler/device/moves/region_table.hpp"
#include "taskgraph/moves/build_moves.hpp"

namespace tessera {

/// What the moves of a plan have put into streams since they were made.
struct DeviceMoveCounts {
  RegionCounts regions;        ///< of fills and packs
  std::int64_t copiedIn = 0;   ///< bytes from the host to the device
  std::int64_t copiedOut = 0;  ///< and back
  std::int64_t copyLaunches = 0;
  std::int64_t valuesGiven = 0;    ///< values of conditions of time, evaluated on the host
  std::int64_t bytesUploaded = 0;  ///< tables; a step that finds all of them made uploads nothing

  std::int64_t bytesMoved() const { return regions.total() + copiedIn + copiedOut; }
  std::int64_t launches() const { return regions.launches + copyLaunches; }
};

/// Carries out the moves of one compiled graph in the memory of a device, taking from that of others too, as
/// HostMoves does in the host's, bit for bit: in one launch for all that any number of rows of a fill copy,
/// unpack and take from a coarser level, and one for each axis on which some of them lie at the domain's
/// border. Packs messages and copies owned indices between the two memories in the same manner.
///
///   moves.launchFill(fill, rows, time, stream);    // returns at once
///   moves.launchPack(sends, stream);
///   moves.launchCopy(CopyTo::Device, label, Generation::Old, locals, stream);
///
/// Tables of what is to be done are made and uploaded at first use, once for each way in which the
/// generations of the variables and the messages can lie in memory: two, where every step writes all of them.
///
/// All entries and gathers that a launch touches were added to the stores before; memory of the warehouse is
/// pinned for copies. Message buffers are pinned by the moves of device slot 0, for those of all others.
/// Owned indices are to be valid where a launch reads them; it moves no status words. Thread rule: the
/// backend's.
class DeviceMoves {
 public:
  /// Whether an item of a message (never one that is forwarded) is packed from the device's memory.
  using IsOnDevice = std::function<bool(const PackItem&)>;
  /// Where a device finds the values of an own patch: the store of that patch's device.
  using StoreOf = std::function<DeviceStore&(std::int32_t local)>;
  enum class CopyTo { Host, Device };

  /// All of these outlive the moves. Without `isOnDevice`: all items whose source is in the store. Without
  /// `storeOf`: everything is in `store`; else the device may read the memory of the others.
  DeviceMoves(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, DeviceStore& store,
              const MessageBuffers& pump, DeviceBackend& device, DevicePool& memory, DevicePool& pinned,
              IsOnDevice isOnDevice = {}, StoreOf storeOf = {});
  /// What was launched is done.
  ~DeviceMoves() = default;
  DeviceMoves(const DeviceMoves&) = delete;
  DeviceMoves& operator=(const DeviceMoves&) = delete;

  /// Rows, ascending, of fill number `fill`; conditions of time hold at `time`.
  void launchFill(std::int32_t fill, std::span<const std::int32_t> rows, double time, DeviceStream stream);

  /// Values of conditions of time for one launch of a fill that is captured, in pinned memory that stays.
  struct KeptValues {
    void* memory = nullptr;  ///< null where the rows have no such condition
    detail::RegionLaunchValues values;
  };
  /// Takes memory for rows of a fill that was launched before, with the generations where they are now.
  KeptValues keepValues(std::int32_t fill, std::span<const std::int32_t> rows, DeviceStream stream);
  void giveValues(const KeptValues& kept, DeviceStream stream);
  /// Writes the values at `time`; launches that read them are done.
  void evaluate(std::int32_t fill, std::span<const std::int32_t> rows, double time, const KeptValues& kept);
  /// The launches of `launchFill` alone, to be captured: what was launched before is done.
  void captureFill(std::int32_t fill, std::span<const std::int32_t> rows, const KeptValues& kept,
                   DeviceStream stream);

  /// What lies on the device of these messages, ascending, into their buffers.
  void launchPack(std::span<const std::int32_t> sends, DeviceStream stream);
  /// Owned indices of a variable on own patches, ascending, of one level.
  void launchCopy(CopyTo to, LabelId label, Generation generation, std::span<const std::int32_t> locals,
                  DeviceStream stream);

  /// Whether that row takes values from the memory of another device.
  bool takesFromPeers(std::int32_t fill, std::int32_t row) const;

  const DeviceMoveCounts& counts() const { return counts_; }

 private:
  /// What a table was made for: descriptions, one each for the variables on their levels that it works on,
  /// and the turn of the messages where it works on some.
  using BufferConfiguration = std::vector<std::int32_t>;
  /// An expression of time on a part of the border, to be evaluated for each launch.
  struct Timed {
    int side = 0;
    Box region;              ///< one index where the value is the same everywhere
    std::int64_t first = 0;  ///< number of its first value
  };
  struct FillTables {
    RegionTable moves;
    std::array<RegionTable, kAxes> sides;
    std::vector<Timed> timed;
    std::vector<std::int64_t> rowTimed;   ///< by row: its first one; and one more
    std::vector<std::int64_t> rowValues;  ///< by row: number of its first value; and one more
    std::vector<char> isThere;            ///< by row: all that it touches is in the store
  };
  /// FillTables while they are made.
  struct FillLists;
  /// Where an end of a move lies.
  struct End {
    std::byte* data = nullptr;  ///< element 0 of the layout
    Layout layout;
  };
  struct CopyTable {
    RegionTable table;
    std::vector<char> isThere;  ///< by row
  };

  BufferConfiguration configurationOfTables(std::int32_t fill) const;
  FillTables& tablesOf(std::int32_t fill, DeviceStream stream);
  FillTables makeTables(std::int32_t fill, DeviceStream stream);
  /// Whether all that the moves take from and write to is in the stores.
  bool isThere(std::span<const Move> moves) const;
  bool isThere(const MoveRef& ref, LabelId label) const;
  void addMoves(FillLists& lists, std::vector<Move>& moves) const;
  void pairRowEnds(RegionList& list, std::vector<Move>& moves) const;
  void addCondition(FillLists& lists, const Move& move) const;
  void add(RegionList& list, const Move& move, const RegionValues& values = {}) const;
  End endOf(const MoveRef& ref, const Move& move) const;
  /// Whether there is anything to launch.
  bool isLaunched(const FillPlan& fill) const;
  KeptValues valuesFor(const FillPlan& fill, const FillTables& tables, std::span<const std::int32_t> rows,
                       DeviceStream stream);
  void evaluateRows(const FillPlan& fill, const FillTables& tables, std::span<const std::int32_t> rows,
                    double time, const KeptValues& kept);
  void evaluateRow(const FillPlan& fill, const FillTables& tables, std::int32_t row, double time,
                   double* values, std::int64_t first) const;

  RegionTable upload(const RegionList& list, DeviceStream stream, const std::string& owner);
  RegionTable makePacks(DeviceStream stream);
  CopyTable makeCopies(CopyTo to, LabelId label, Generation generation, LevelId level, DeviceStream stream);
  BufferConfiguration configurationOf(const FillPlan& fill) const;
  BufferConfiguration configurationOfPacks() const;
  void listPacked();
  std::int32_t descriptionOf(Generation generation, LabelId label, LevelId level) const;
  bool isPicked(const PackItem& item) const;

  const LabelInfo& info(LabelId label) const { return data_.labels().info(label); }
  const Level& level(const FillPlan& fill) const { return data_.hierarchy().level(fill.sourceLevel); }
  const Patch& ownPatch(std::int32_t local) const {
    return data_.hierarchy().patch(data_.ownPatches()[static_cast<std::size_t>(local)]);
  }
  /// Whose memory a fill takes from.
  DeviceStore& sourceOf(std::int32_t local) const { return storeOf_ ? storeOf_(local) : store_; }
  std::int32_t firstLocal(LevelId level) const {
    return static_cast<std::int32_t>(graphs_.localsOfLevel[static_cast<std::size_t>(level)].begin);
  }

  const MoveBuilder moves_;
  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  DeviceStore& store_;
  const MessageBuffers& pump_;
  DeviceBackend& device_;
  DevicePool& memory_;
  DevicePool& pinned_;
  IsOnDevice isOnDevice_;
  StoreOf storeOf_;
  std::optional<PinnedHost> messages_;  ///< of device slot 0, for all
  std::vector<bool> fromMessages_;      ///< by fill: reads what has come from other ranks
  std::vector<std::map<BufferConfiguration, FillTables>> fills_;
  std::map<BufferConfiguration, RegionTable> packs_;
  /// By what lies in front of the variable's description: which way, and which level.
  std::map<std::array<std::int32_t, 4>, CopyTable> copies_;
  std::vector<PackItem> packed_;    ///< one item for each (variable, generation, level) that is packed
  std::vector<std::int32_t> rows_;  ///< of the copy at hand
  DeviceMoveCounts counts_;
};

}  // namespace tessera
