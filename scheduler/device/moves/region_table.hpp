#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/geometry/box.hpp"
#include "datawarehouse/field.hpp"
#include "scheduler/device/memory/device_pool.hpp"
#include "scheduler/device/moves/region_launch.hpp"

namespace tessera {

/// Launches of region operations, and bytes written by them.
struct RegionCounts {
  std::int64_t launches = 0;
  std::int64_t copied = 0;
  std::int64_t packed = 0;
  std::int64_t unpacked = 0;
  std::int64_t prolonged = 0;   ///< from a coarser level
  std::int64_t conditions = 0;  ///< beyond the domain

  std::int64_t total() const { return copied + packed + unpacked + prolonged + conditions; }
  RegionCounts& operator+=(const RegionCounts& other);
  friend RegionCounts operator-(const RegionCounts& a, const RegionCounts& b);
};

/// Where a condition finds its values.
struct RegionValues {
  enum class Of {
    Table,   ///< those that `RegionList::addValues` was given
    Launch,  ///< those that the launch brings along
  };
  Of of = Of::Table;
  std::int64_t first = 0;  ///< position of the first one
  enum class Count {
    One,           ///< for the whole region
    OneEachIndex,  ///< x fastest
  };
  Count count = Count::One;
};

/// Operations on boxes of indices, by row: what is launched together is chosen by rows. They work on memory
/// that the device reaches: its own, a peer's or pinned memory of the host. Operations of one launch run in
/// any order, so none writes what another reads or writes.
///
///   RegionList list;
///   list.beginRow();
///   list.add(regionOp(move, toLayout, fromLayout, info, level), to, from, &RegionCounts::copied);
///
/// Operations may be empty. Thread rule: one thread at a time.
class RegionList {
 public:
  /// What comes next belongs to the next row.
  void beginRow();
  /// `to` and `from`: element 0 of the layouts. `values` are those of a condition.
  void add(const RegionOp& op, std::byte* to, const std::byte* from, std::int64_t RegionCounts::*counted,
           const RegionValues& values = {});
  /// Where a copy of elements of 8 bytes to the begins or ends of rows of a window comes from.
  struct RowEnds {
    const std::byte* from = nullptr;
    const Layout* layout = nullptr;  ///< of `from`
    Box region;
    Index shift;
  };
  /// Copies of both, where the end of a row and the begin of the next one make up a sector with nothing else
  /// in it but padding, which gets noughts: the sector is written in one piece. False, and nothing is added,
  /// where they do not. The caller knows that padding is nobody's.
  bool copyRowEnds(std::byte* to, const Layout& toLayout, const RowEnds& begins, const RowEnds& ends);
  /// For conditions: copies `values` into the table; the position of the first one.
  std::int64_t addValues(std::span<const double> values);

  bool isEmpty() const { return ops_.empty(); }
  std::size_t rowCount() const { return rowBlocks_.size(); }

 private:
  friend class RegionTable;

  void put(const detail::PlacedRegion& placed);
  void addWords(std::uint32_t words);

  std::vector<detail::PlacedRegion> ops_;
  std::vector<std::uint32_t> begins_;
  std::vector<detail::RegionBlock> blocks_;
  std::vector<double> values_;
  std::vector<std::int32_t> rowBlocks_;  ///< by row: its first block
  std::vector<RegionCounts> rowCounts_;  ///< by row: of all rows before it
  RegionCounts counts_;
  std::uint32_t rowWords_ = 0;  ///< of the row at hand
};

/// A RegionList in memory of a device, and launches of rows of it. It is uploaded once; a launch carries
/// numbers only. Faces, edges and corners of many patches are dealt out to threads as one sequence of words,
/// so that thin ones leave none idle; a row has thread blocks of its own.
///
/// Thread rule: the backend's. The table outlives what it has launched.
class RegionTable {
 public:
  /// Nothing to launch.
  RegionTable() = default;
  /// Takes memory and uploads in the order of `stream`; other streams wait for that by themselves. Device and
  /// pools outlive the table.
  RegionTable(DeviceBackend& device, DevicePool& memory, DevicePool& pinned, DeviceStream stream,
              const RegionList& list, std::string_view owner);
  ~RegionTable();
  RegionTable(RegionTable&& other) noexcept { *this = std::move(other); }
  RegionTable& operator=(RegionTable&& other) noexcept;

  bool isEmpty() const { return memory_ == nullptr; }
  /// Bytes in memory of the device.
  std::int64_t bytes() const { return bytes_; }
  /// All operations of these rows, in one launch (more only where `rows` has many gaps). `values` are those
  /// of conditions that take theirs from the launch; they stay until it has run. Returns what it writes;
  /// nothing is launched where that is nothing.
  RegionCounts launch(DeviceStream stream, const char* name, std::span<const std::int32_t> rows,
                      const detail::RegionLaunchValues& values = {});

 private:
  template <int Runs>
  void put(DeviceStream stream, const char* name, std::span<const detail::RegionRun> runs,
           std::int32_t blocks, const detail::RegionLaunchValues& values);
  void comeAfterUpload(DeviceStream stream);

  DeviceBackend* device_ = nullptr;
  DevicePool* pool_ = nullptr;
  std::byte* memory_ = nullptr;  ///< null where there is nothing to launch
  detail::RegionTableView view_;
  std::int64_t bytes_ = 0;
  DeviceStream uploadStream_;
  DeviceEvent uploaded_;
  bool isUploaded_ = false;              ///< as far as the host has seen
  std::vector<std::int32_t> rowBlocks_;  ///< by row, and one more
  std::vector<RegionCounts> rowCounts_;  ///< likewise
  std::vector<detail::RegionRun> runs_;  ///< of the launch at hand
};

namespace detail {

/// Puts a launch of `blockCount` blocks into a stream. Instantiated in region_kernels.cpp.
template <int Runs>
void putRegions(DeviceBackend& device, DeviceStream stream, const char* name,
                const RegionLaunch<Runs>& launch);

/// Runs that one launch carries at most.
inline constexpr int kMostRuns = 480;

}  // namespace detail

}  // namespace tessera
