#pragma once

#include "datawarehouse/task_frame.hpp"

namespace tessera::detail {

/// Whether a number of `region` of what a task wrote may be NaN or infinite; the region lies inside what the
/// access declares. False for whole numbers.
bool mayHoldNonFinite(const TaskAccess& access, const LabelInfo& info, const Box& region);

}  // namespace tessera::detail
