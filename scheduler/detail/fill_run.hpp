#pragma once

#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/detail/message_pump.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Carries out the fills of one compiled graph: halos in place, and gathers of other levels into their
/// buffers. Any number of threads at once, for different rows.
class FillRun {
 public:
  FillRun(const CompiledGraph& graph, std::size_t plan, DataWarehouse& data, const MessagePump& pump)
      : graph_(graph), plan_(plan), data_(data), pump_(pump) {}

  /// Row `row` of a fill, which serves own patch `local`; conditions of time hold at `time`.
  void run(const FillPlan& fill, std::int32_t row, std::int32_t local, double time);
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

  Destination destinationOf(const FillPlan& fill, std::int32_t row, std::int32_t local);
  void copyFromNeighbours(const FillPlan& fill, std::int32_t row, const Destination& to);
  void unpack(const FillPlan& fill, std::int32_t row, const Destination& to);
  void fillUncovered(const FillPlan& fill, std::int32_t row, const Destination& to);
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
};

}  // namespace tessera::detail
