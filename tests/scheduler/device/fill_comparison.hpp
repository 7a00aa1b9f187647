#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "datawarehouse/device_store.hpp"
#include "scheduler/device/memory/store_memory.hpp"
#include "scheduler/device/moves/device_moves.hpp"
#include "scheduler/step/host_moves.hpp"

namespace tessera::test {

/// One plan's fills twice over the same values: by HostMoves in the memory of the host, which
/// other tests compare with oracles, and by DeviceMoves in that of a device. Values, messages and batches
/// come from a seed. Entries have memory of their own (BufferReuse::Off), so that what a fill leaves stays to
/// be looked at.
class FillComparison {
 public:
  FillComparison(const CompiledGraphs& graphs, std::size_t plan, Transport& transport, DeviceBackend& device,
                 std::uint64_t seed);

  /// Runs all fills of the plan, and compares all that each has to provide.
  void expectSameFills(double time);
  /// Packs all messages on the device and compares them with copies made index by index.
  void expectSameMessages();
  /// Brings owned indices back to the host, where others were put before.
  void expectCopiesThereAndBack();
  /// The step's end: New becomes Old.
  void promote();

  DataWarehouse& data() { return *data_; }
  const DeviceMoves& fills() const { return *fills_; }
  /// Of owned and halo values that were compared.
  std::int64_t compared() const { return compared_; }

 private:
  void scatter(std::span<std::byte> bytes);
  void fillWithValues();
  void bringAll();
  std::vector<LabelId> labelsOf(std::size_t local) const;
  void launchInBatches(std::int32_t fill, std::int32_t rows, double time);
  void compareRow(std::size_t fill, std::int32_t row);
  void compare(const Box& box, LabelId label, const std::byte* host, const Layout& hostLayout,
               std::byte* device, const Layout& deviceLayout);
  std::int32_t rowCount(const FillPlan& fill) const;

  const CompiledGraphs& graphs_;
  const CompiledGraph& graph_;
  std::size_t plan_;
  DeviceBackend& device_;
  std::mt19937_64 random_;
  std::unique_ptr<DataWarehouse> data_;
  detail::MessagePump pump_;
  detail::HostMoves onHost_;
  DevicePool memory_;
  DevicePool pinned_;
  std::vector<DeviceStream> streams_;
  StoreMemory storeMemory_;
  DeviceStore store_;
  std::optional<PinnedHost> pinnedData_;
  std::optional<DeviceMoves> fills_;
  std::int64_t compared_ = 0;
};

}  // namespace tessera::test
