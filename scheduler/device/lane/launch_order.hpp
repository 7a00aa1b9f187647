#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"

namespace tessera {

/// Tasks of one kind that are launched together.
struct LaunchBatch {
  std::int32_t kind = 0;
  std::int32_t streams = 1;         ///< parts of each task
  std::vector<std::int32_t> tasks;  ///< ascending
  std::vector<std::int32_t> after;  ///< earlier batches that have to end before; ascending, each once
};

/// The launches of a lane whose tasks are all submitted before it is served, in its order: each comes behind
/// all that it waits for. Pure.
std::vector<LaunchBatch> launchOrder(const LanePlan& plan, std::int32_t largestBatch);

/// The same with a stream for each part, as few waits as batches allow: a batch follows in the stream of one
/// that it waits for where nothing else has been put there since.
struct StreamedBatch {
  LaunchBatch batch;
  std::vector<std::int32_t> streams;  ///< by part, counted from 0
};
std::vector<StreamedBatch> dealOut(std::vector<LaunchBatch> batches, std::int32_t streamCount);

}  // namespace tessera
