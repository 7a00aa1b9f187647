#pragma once

#include <string>

#include "scheduler/device/backend/emulated_device.hpp"

namespace tessera {

/// What `--device-fault` says: how an emulated device goes wrong, so that what a run does then can be seen
/// without breaking a GPU. "absent": there is none; "driver": its driver is too old; "memory=BYTES": it has
/// no more than that; "lost=N": it is lost after N pieces of work (launches, copies, events). Empty: nothing.
/// Throws UsageError for all else.
void planFault(const std::string& text, EmulatedOptions& device);

}  // namespace tessera
