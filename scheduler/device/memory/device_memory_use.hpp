#pragma once

#include <cstdint>

#include "datawarehouse/device_store.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// What variables take in the memory of one device.
struct DeviceMemoryUse {
  std::int64_t bytes = 0;  ///< allocated: windows with the padding of their rows, and buffers of gathers
  /// Of indices that some task of the device needs, halos included, each once a generation.
  std::int64_t distinctBytes = 0;

  /// Allocated over distinct; 1 where nothing is stored twice. Below 1 where variables take turns.
  double overDistinct() const {
    return distinctBytes == 0 ? 1.0 : static_cast<double>(bytes) / static_cast<double>(distinctBytes);
  }
};

/// Of what was added to the store. Pure; O(n log n) for n patches a variable.
DeviceMemoryUse memoryUseOf(const CompiledGraphs& graphs, const DeviceStore& store);

}  // namespace tessera
