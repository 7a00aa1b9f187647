#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/exact_sum.hpp"
#include "core/exec/block_shape.hpp"
#include "core/exec/device_prefetch.hpp"
#include "core/exec/final_values.hpp"
#include "core/exec/patch_order.hpp"
#include "core/exec/patch_part.hpp"
#include "core/geometry/box.hpp"

namespace tessera {

/// How an entry of a loop's table begins; the closure is behind it.
struct DeviceLoopHead {
  Box box;
  MemoryPiece reads[kPrefetches] = {};  // NOLINT: a std::array's operator[] is no device function
  FinalValues finals[kFinalValues];     // NOLINT: likewise; of indices of `box`
};

/// One launch of one loop over many patches: what DeviceLoopType::run is called
/// with.
struct DeviceLoopBatch {
  const std::byte* entries = nullptr;  ///< every `stride` bytes a DeviceLoopHead
                                       ///< and, behind it, a closure
  std::int64_t* results = nullptr;     ///< of a reduction: `resultWords` for each
                                       ///< entry, all `resultStart`
  std::int32_t stride = 0;             ///< by the host's sizes: nvcc's closures are smaller on the device
  std::int32_t count = 0;
  BlockShape shape;
  PatchPart part;
  PatchOrder order = PatchOrder::Rising;
  bool keepsClosures = false;  ///< a run on the host leaves them for the next run
};

/// What there is to know of a type of closure whose own type is forgotten; one
/// constant for each type.
struct DeviceLoopType {
  std::int32_t closureBytes = 0;  ///< as the host counts
  std::int32_t resultWords = 0;   ///< of a reduction, for each patch; 0: the
                                  ///< closure's results are elsewhere
  std::int64_t resultStart = 0;   ///< the value of each word before the loop
  /// Copies a closure for a run on the host, which ends it.
  void (*keep)(void* to, const void* closure) = nullptr;
  /// Ends a copy that no run has ended.
  void (*drop)(void* closure) = nullptr;
  /// Gets a DeviceLoopBatch: launches it into a stream of CUDA, or does the
  /// work itself when there is none.
  void (*run)(const void* batch, void* cudaStream) = nullptr;
};

/// Numbers of a step that a body may ask its task for; they change from step
/// to step.
enum class StepNumber : std::uint8_t { Time, Dt, Step };

/// What takes the loops of a task's body on a device. The body is called on the
/// host, once for each patch, and its loops are recorded; when the bodies of
/// all patches of a launch have been called, each loop is one launch over all
/// patches. A body with reductions is called a second time when the device is
/// done: then loops do nothing, and reductions give their values. See
/// scheduler/device/loops/task_loops.hpp.
class DeviceLoops {
 public:
  /// Whether this is the second call, in which `contribute` counts.
  virtual bool finished() const = 0;
  /// The body has asked for it: what it launches may depend on that number.
  virtual void asksFor(StepNumber number) = 0;
  /// The body's loops from now on read that; a hint, of which the first few
  /// count.
  virtual void willRead(const MemoryPiece& piece) = 0;
  /// They read none of what `willRead` was told so far.
  virtual void forgetReads() = 0;
  /// The next loop, if it is over `declared`, gives these numbers their final values, and has its threads
  /// look for NaN and infinity in them.
  virtual void willFinish(const FinalValues& values, const Box& declared) = 0;
  /// Whether a loop of the body looks at the numbers whose findings go to these words.
  virtual bool looksAt(const std::int64_t* words) const = 0;
  /// `closure` is copied byte by byte; `name` outlives the launch.
  virtual void loop(const char* name, const Box& box, const void* closure, const DeviceLoopType& type) = 0;
  /// The result's words, `resultWords` for each part of the launch; empty in
  /// the first call.
  virtual std::span<const std::int64_t> reduce(const char* name, const Box& box, const void* closure,
                                               const DeviceLoopType& type) = 0;

 protected:
  ~DeviceLoops() = default;
};

}  // namespace tessera
