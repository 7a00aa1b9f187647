#pragma once

#include <span>
#include <string>
#include <vector>

#include "taskgraph/transfer/migration_plan.hpp"

namespace tessera {

/// Proves the plans of all ranks together, each at the place of its rank: each index that a patch of `after`
/// owns gets its value exactly once, from the patch of `before` that owns it and that lies on the rank that
/// gives it, or is listed as fresh where no patch had it; and both sides of each message list the same
/// pieces. A sentence for each fault; shares no code with `planMigration`. For tests and debugging: it looks
/// at all patches of all ranks.
std::vector<std::string> checkMigration(std::span<const MigrationPlan> plans, const OwnedMesh& before,
                                        const OwnedMesh& after, std::span<const LevelLabel> which,
                                        const LabelTable& labels);

}  // namespace tessera
