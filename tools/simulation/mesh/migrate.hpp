#pragma once

#include <vector>

#include "core/transport/transport.hpp"
#include "datawarehouse/data_warehouse.hpp"
#include "taskgraph/transfer/migration_plan.hpp"

namespace tessera {

/// What a plan reads of this rank's values; some of it several times.
std::vector<DataWarehouse::OldValues> sourcesOf(const MigrationPlan& plan);

/// Carries out a plan: the Old values of `before` become those of `after`. Both are of this rank and on the
/// host, nothing of them is in use, and nothing of the transport is under way. All ranks call it, each with
/// its own plan; what arrives from where is known on both sides, so no counts are sent. Needs memory for what
/// this rank sends and receives. What stays where it is (`DataWarehouse::stays`) is not copied.
void migrate(const MigrationPlan& plan, const DataWarehouse& before, DataWarehouse& after,
             Transport& transport);

}  // namespace tessera
