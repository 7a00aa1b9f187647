#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scheduler/detail/device_side.hpp"
#include "taskgraph/placed_graph.hpp"

namespace tessera::detail {

/// The devices of a rank, where the nodes of each plan run, and the memory that this takes on each device.
class RankDevices {
 public:
  /// Opens the devices and takes their memory. Throws DeviceError.
  RankDevices(const CompiledGraphs& graphs, DataWarehouse& data, const DeviceOptions& options);

  const PlacedGraph& placed(std::size_t plan) const { return placed_[plan]; }
  const std::vector<std::unique_ptr<DeviceSide>>& sides() const { return sides_; }

 private:
  NodePlace placeOf(const TaskDeclaration& task, LevelId level, std::int32_t local) const;
  void addEntries(std::size_t plan);
  void addTask(std::size_t plan, DeviceStore& store, const NodeBlock& block, std::int32_t number);
  void addFill(std::size_t plan, DeviceStore& store, const NodeBlock& block, std::int32_t number);
  void addPack(std::size_t plan, NodePlace place, std::int32_t send);

  const CompiledGraphs& graphs_;
  std::vector<std::unique_ptr<DeviceSide>> sides_;
  std::vector<PlacedGraph> placed_;  ///< by plan
};

}  // namespace tessera::detail
