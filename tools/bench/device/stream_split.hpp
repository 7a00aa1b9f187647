#pragma once

#include "scheduler/device/backend/device_backend.hpp"
#include "tools/bench/figure_lines.hpp"

namespace tessera::bench {

/// Prints what it takes to run 15 tasks of uneven size, none of which fills the device alone: one by one in
/// one stream and in several, each cut into parts for several streams, and in one launch.
void measureStreamSplit(DeviceBackend& device, const FigureLines& lines);

}  // namespace tessera::bench
