#pragma once

#include "scheduler/engine/program.hpp"

namespace tessera::engine {

/// Kinds that need few registers, so that many workers are resident: adders, spin, relays and
/// allocation_loop.
const Program& benchProgram();

/// The same work without the engine; seconds for `count` pieces. Only where no engine is resident.
struct Launches {
  /// A kernel launch for each piece, dealt out to the streams.
  static double kernels(std::int64_t count, int streams);
  /// Graphs of `nodes` independent kernels, made before.
  static double graphs(std::int64_t count, int nodes);
  /// One kernel in which each thread does a piece: all of them have to be known before.
  static double batched(std::int64_t count);
  /// From a launch to its end as the host sees it by an event, or by waiting for the stream; the median of
  /// many.
  static double roundTripByEvent();
  static double roundTripByStream();
  /// cudaMalloc and cudaFree of so many bytes, mean of both together.
  static double cudaMallocAndFree(std::int64_t bytes);
  /// Memory of the GPU that is free, in MiB.
  static std::int64_t freeMiB();
  static bool available();
};

}  // namespace tessera::engine
