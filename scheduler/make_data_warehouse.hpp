#pragma once

#include <memory>

#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera {

/// The memory that compiled graphs ask for, allocated and filled with NaN.
std::unique_ptr<DataWarehouse> makeDataWarehouse(const CompiledGraphs& graphs);

}  // namespace tessera
