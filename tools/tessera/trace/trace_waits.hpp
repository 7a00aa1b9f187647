#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/tessera/trace/trace_model.hpp"

namespace tessera {

/// All time of all workers, from the first traced step of each rank to its last, by what they did or waited
/// for. Inside a step: "tasks", "halos", "packing and joining"; or waiting, by the predecessor that made the
/// worker's next node ready: "waits: device", "waits: message", "waits: reduction", "waits: nothing ready"
/// (another worker's task); after a worker's last node the one that the step ended with; and "ready, not
/// started". Between steps: "waits: output" while the rank writes, else "between steps". Nanoseconds.
std::map<std::string, std::int64_t> workerTimes(const TraceModel& trace);

}  // namespace tessera
