#pragma once

#include <memory>
#include <span>

#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// The warehouse of the mesh before, whose memory is taken over, and what of its Old values is still to be
/// read: see `DataWarehouse::inherit`.
struct Inheritance {
  DataWarehouse* before = nullptr;
  std::span<const DataWarehouse::OldValues> needed{};
};

/// The memory that compiled graphs ask for, allocated and filled with NaN by as many threads as the executor
/// has, so that each home worker's patches lie near its core. `cores` are those of the executor; the calling
/// thread is bound to the first.
std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs, int threads = 1,
                                                 std::span<const int> cores = {},
                                                 MemoryPieces pieces = MemoryPieces::CacheLines,
                                                 Inheritance inheritance = {});

}  // namespace tessera
