#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/geometry/box.hpp"
#include "datawarehouse/field.hpp"
#include "grid/label.hpp"
#include "grid/level.hpp"
#include "scheduler/device/memory/device_pool.hpp"
#include "scheduler/device/moves/region_op.hpp"

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

/// Operations on boxes of indices, by row: what is launched together is chosen by rows. They do what
/// copyRegion, packRegion, unpackRegion, fillFromCoarser and fillBoundary do, bit for bit, on memory that the
/// device reaches: its own, a peer's or pinned memory of the host. Operations of one launch run in any order,
/// so none writes what another reads or writes.
///
///   RegionList list;
///   list.beginRow();
///   list.copy(to, toLayout, from, fromLayout, region, shift, 8);
///
/// Elements have a multiple of 4 bytes. Boxes may be empty. Thread rule: one thread at a time.
class RegionList {
 public:
  /// What comes next belongs to the next row.
  void beginRow();
  void copy(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
            const Box& region, Index shift, std::int64_t elementBytes);
  /// Where a copy of elements of 8 bytes to the begins or ends of rows of a window comes from.
  struct RowEnds {
    const std::byte* from = nullptr;
    const Layout* layout = nullptr;  ///< of `from`
    Box region;
    Index shift;
  };
  /// `copy` of both, where the end of a row and the begin of the next one make up a sector with nothing else
  /// in it but padding, which gets noughts: the sector is written in one piece. False, and nothing is added,
  /// where they do not. The caller knows that padding is nobody's.
  bool copyRowEnds(std::byte* to, const Layout& toLayout, const RowEnds& begins, const RowEnds& ends);
  void pack(std::byte* packed, const std::byte* from, const Layout& layout, const Box& region,
            std::int64_t elementBytes);
  void unpack(std::byte* to, const Layout& layout, const Box& region, const std::byte* packed,
              std::int64_t elementBytes);
  void prolong(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
               const Box& region, Index shift, Extent ratio, std::int64_t elementBytes);
  /// `values` are not used by Outflow.
  void condition(std::byte* data, const Layout& layout, const LabelInfo& info, const Level& level, int side,
                 const Box& region, const RegionValues& values);
  /// For conditions: copies `values` into the table; the position of the first one.
  std::int64_t addValues(std::span<const double> values);

  bool isEmpty() const { return ops_.empty(); }
  std::size_t rowCount() const { return rowBlocks_.size(); }

 private:
  friend class RegionTable;

  /// Pointers, rows and steps of a region between two layouts; the rest is the caller's.
  static detail::RegionOp opOf(std::byte* to, const Layout& toLayout, const std::byte* from,
                               const Layout& fromLayout, const Box& region, Index fromFirst,
                               std::int64_t elementBytes);
  /// False where there is nothing to do.
  bool add(const detail::RegionOp& op, const Box& region, std::int64_t elementBytes);
  void addPlain(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                const Box& region, Index shift, std::int64_t elementBytes, std::int64_t& counted);
  void addWords(std::uint32_t words);

  std::vector<detail::RegionOp> ops_;
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
