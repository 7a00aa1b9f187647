#pragma once

#include <memory>

#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// The memory that compiled graphs ask for, allocated and filled with NaN by as many threads: the memory of
/// each patch by the one of its home worker's number.
std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs, int threads = 1);

}  // namespace tessera
