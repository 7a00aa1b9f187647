#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "datawarehouse/moves/region_copy.hpp"
#include "scheduler/step/prefetch_list.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/storage/shared_gathers.hpp"

namespace tessera::detail {

/// What each row of the fills of one plan takes from other patches of this rank, settled once, so that a step
/// does no geometry. Rows whose copies have the same places and sizes (most patches of a uniform mesh) share
/// one list; only whose memory it is differs, and that the neighbour table says.
class HaloCopies {
 public:
  struct List {
    std::vector<StridedCopy> copies;
    std::vector<std::int32_t> from;  ///< by copy: which neighbour of the row
    bool beyondDomain = false;       ///< conditions fill a part of the row
    // Into a scratch window:
    StridedCopy own;          ///< of the patch itself
    PrefetchList prefetches;  ///< of `copies`, then of `own`
    friend bool operator==(const List& a, const List& b) {
      return a.copies == b.copies && a.from == b.from && a.beyondDomain == b.beyondDomain && a.own == b.own;
    }
  };

  HaloCopies(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
             const SharedGathers& shared);

  /// Not for whole levels, nor for rows of a shared window.
  const List& of(std::size_t fill, std::int32_t row) const {
    return lists_[static_cast<std::size_t>(listOf_[fill][static_cast<std::size_t>(row)])];
  }

 private:
  static constexpr std::int32_t kNone = -1;

  Layout layoutOfRow(const FillPlan& fill, std::int32_t row, const Box& target) const;
  void lookAt(std::size_t fill, const SharedGathers& shared);
  bool readsFacesOnly(std::int32_t fill) const;
  List make(const FillPlan& fill, std::int32_t row, bool facesOnly) const;
  std::int32_t numberOf(List&& list);

  const CompiledGraphs& graphs_;
  const std::size_t plan_;
  const DataWarehouse& data_;
  std::vector<List> lists_;
  std::vector<std::vector<std::int32_t>> listOf_;               ///< by fill, then row
  std::unordered_multimap<std::uint64_t, std::int32_t> known_;  ///< lists by hash, while they are made
};

}  // namespace tessera::detail
