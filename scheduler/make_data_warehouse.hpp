#pragma once

#include <memory>
#include <span>

#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// The memory that compiled graphs ask for, allocated and filled with NaN by as many threads as the executor
/// has, so that each home worker's patches lie near its core. `cores` are those of the executor; the calling
/// thread is bound to the first.
std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs, int threads = 1,
                                                 std::span<const int> cores = {},
                                                 MemoryPieces pieces = MemoryPieces::CacheLines);

}  // namespace tessera
