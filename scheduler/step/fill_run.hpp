#pragma once

#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "scheduler/step/halo_copies.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/storage/shared_gathers.hpp"

namespace tessera::detail {

/// Carries out the fills of one compiled graph: halos in place, and gathers of other levels into their
/// buffers. Any number of threads at once, for different rows.
class FillRun {
 public:
  FillRun(const CompiledGraphs& graphs, std::size_t plan, DataWarehouse& data, const MessagePump& pump)
      : graph_(graphs.plans[plan]),
        plan_(plan),
        data_(data),
        pump_(pump),
        shared_(graphs, plan),
        copies_(graphs, plan, data, shared_) {}

  /// Row `row` of fill number `fill`, which serves own patch `local`; conditions of time hold at `time`.
  void run(std::size_t fill, std::int32_t row, std::int32_t local, double time);
  /// The same for a fill into scratch: patch and halo, into memory laid out as `layout`.
  void gatherScratch(std::size_t fill, std::int32_t row, std::int32_t local, double time, std::byte* memory,
                     const Layout& layout);
  /// Appends the cache lines that `gatherScratch` of a row will read from this rank's patches. `step`: 1
  /// where the worker goes through the patches upwards, -1 downwards; those that it has passed are left out,
  /// since it has used them not long ago.
  void listPrefetches(std::size_t fill, std::int32_t row, std::int32_t local, std::int32_t step,
                      std::vector<PrefetchLines>& lines) const;
  /// How many entries that appends at the most.
  std::size_t fetchEntries(std::size_t fill, std::int32_t row) const {
    return copies_.of(fill, row).prefetches.size();
  }
  /// For checked mode: makes the buffer of a gather NaN, so that nothing of its last user is taken for a
  /// value.
  void unset(const FillPlan& fill, std::int32_t row);

 private:
  /// Where the row's values go.
  struct Destination {
    std::byte* data = nullptr;
    const Layout* layout = nullptr;
    Box target;
  };

  /// What lies around a whole shared window; exactly one row of the fill gets here.
  void runShared(const FillPlan& fill, const SharedGather& gather, double time);
  std::byte* memoryOf(const FillPlan& fill, std::int32_t row, std::int32_t local);
  Destination destinationOf(const FillPlan& fill, std::int32_t row, std::int32_t local);
  /// A whole level, which has a single row.
  void gatherLevel(const FillPlan& fill);
  void copyFromNeighbours(const FillPlan& fill, std::int32_t row, const HaloCopies::List& list,
                          std::byte* memory) const;
  /// What the row has besides the copies.
  void fillRest(const FillPlan& fill, std::int32_t row, const HaloCopies::List& list, const Destination& to,
                double time);
  void unpack(const FillPlan& fill, std::int32_t row, const Destination& to);
  void fillUncovered(const FillPlan& fill, std::int32_t row, const Destination& to);
  /// `region` of what a piece brings.
  void fillFromBelow(const FillPlan& fill, const CoarsePiece& piece, const Box& region,
                     const Destination& to);
  void applyConditions(const FillPlan& fill, const Destination& to, double time);

  const LabelInfo& info(const FillPlan& fill) const { return data_.labels().info(fill.label); }
  const Level& level(const FillPlan& fill) const { return data_.hierarchy().level(fill.sourceLevel); }
  const Patch& ownPatch(std::int32_t local) const {
    return data_.hierarchy().patch(data_.ownPatches()[static_cast<std::size_t>(local)]);
  }

  const CompiledGraph& graph_;
  std::size_t plan_;
  DataWarehouse& data_;
  const MessagePump& pump_;
  SharedGathers shared_;
  HaloCopies copies_;
};

}  // namespace tessera::detail
