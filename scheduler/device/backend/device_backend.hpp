#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "scheduler/device/backend/device_addresses.hpp"
#include "scheduler/device/backend/device_error.hpp"

namespace tessera {

/// A queue of a device, by its number in its backend: what is put into one runs in that order, what is in two
/// runs in any.
struct DeviceStream {
  std::int32_t number = -1;
  friend bool operator==(DeviceStream, DeviceStream) = default;
};

/// A mark in a stream, by its number in its backend.
struct DeviceEvent {
  std::int32_t number = -1;
  friend bool operator==(DeviceEvent, DeviceEvent) = default;
};

/// Work that was captured in streams, to be launched at once any number of times; by its number in its
/// backend.
struct DeviceGraph {
  std::int32_t number = -1;
  friend bool operator==(DeviceGraph, DeviceGraph) = default;
};

/// Where memory lies.
enum class DeviceSpace {
  Device,
  PinnedHost,  ///< the host's, locked in place: copies from and to it run beside everything else
  Managed,  ///< moved by the driver to whoever touches it; it prefers the device and is brought there at once
};

/// Which way a copy goes.
enum class CopyDirection { HostToDevice, DeviceToHost, WithinDevice };

/// What a person needs to know one device from another.
struct DeviceInfo {
  std::string name;             ///< "NVIDIA H200", "emulated device"
  std::string pciAddress;       ///< "0000:0f:00.0"; empty for an emulated one
  std::string architecture;     ///< "9.0"; empty for an emulated one
  std::int32_t number = 0;      ///< among the devices of this process
  std::int32_t processors = 0;  ///< how many blocks of a kernel can be at work, times a small number
  std::int64_t memoryBytes = 0;
  std::int32_t driverVersion = 0;  ///< 13000 for CUDA 13.0; 0 for an emulated one
};

/// "device 0 (NVIDIA H200, 0000:0f:00.0)", as every message names it.
std::string asText(const DeviceInfo& info);

/// Work for a stream. `run` is called once with a copy of `arguments`, which are trivially copyable. A device
/// of CUDA calls it at once, with its stream, and it launches kernels there; the emulated device calls it
/// when its turn in the stream comes, without one, and it does the work itself. Loops of tasks, which are
/// written once for both, are launched by scheduler/device/loops/task_loops.hpp.
struct DeviceLaunch {
  using Run = void (*)(const void* arguments, void* cudaStream);

  const char* name = "";  ///< for messages and profilers; outlives the work
  Run run = nullptr;
  std::span<const std::byte> arguments;
};

/// One device: streams, events, copies, memory and launches. Two implementations behave the same and share
/// one test suite: `makeCudaDevice` and `makeEmulatedDevice`.
///
///   const DeviceStream stream = device.makeStream();
///   const DeviceEvent ready = device.makeEvent();
///   device.copy(stream, CopyDirection::HostToDevice, there, here, bytes);   // returns at once
///   device.record(ready, stream);
///   device.wait(other, ready);                                             // on the device, not here
///   while (!device.isDone(ready)) doSomethingElse();
///
/// Thread rule: one thread at a time, the one that serves the lane, after `bindThread` on each thread. All
/// calls but `synchronize` and those of memory return without waiting for the device. All throw DeviceError;
/// an error of work that had been accepted before comes from a later call and names what was launched last.
/// The destructor waits for all work, then gives everything back; it never throws.
class DeviceBackend {
 public:
  DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;
  virtual ~DeviceBackend() = default;

  virtual const DeviceInfo& info() const = 0;
  /// Makes the device the calling thread's own; needed once a thread, harmless more often.
  virtual void bindThread() = 0;

  virtual DeviceStream makeStream() = 0;
  /// A stream whose work is given room before that of others which has not begun: for little that somebody
  /// elsewhere waits for.
  virtual DeviceStream makeUrgentStream() = 0;
  virtual DeviceEvent makeEvent() = 0;
  /// An event that also keeps when it was reached. Its records cost the device some work that those of others
  /// do not; it does all that others do.
  virtual DeviceEvent makeTimedEvent() = 0;
  /// The event is done when all that is in the stream by now is done. An event may be recorded again: who
  /// waits for it already goes on waiting for the record of before.
  virtual void record(DeviceEvent event, DeviceStream stream) = 0;
  /// Whether its last record is done; true for an event that was never recorded.
  virtual bool isDone(DeviceEvent event) = 0;
  /// From the moment when `first` was reached to that of `then`, which was no earlier, by the device's own
  /// clock. Both are timed, and their last records are done. A GPU tells it to half a microsecond or better,
  /// and to seven digits.
  virtual double secondsBetween(DeviceEvent first, DeviceEvent then) = 0;
  /// What is put into `stream` from now on starts after the event's last record.
  virtual void wait(DeviceStream stream, DeviceEvent event) = 0;
  /// As `wait`, for an event of another device of the same kind, which other threads may call meanwhile, also
  /// to record the event again: then it is that record or the one before.
  virtual void waitForPeer(DeviceStream stream, DeviceBackend& peer, DeviceEvent event) = 0;
  /// The calling thread waits until the stream is empty.
  virtual void synchronize(DeviceStream stream) = 0;

  /// Both sides stay as they are until the copy is done. Host memory should be pinned: from other memory CUDA
  /// copies in the calling thread.
  virtual void copy(DeviceStream stream, CopyDirection direction, void* to, const void* from,
                    std::int64_t bytes) = 0;
  /// Makes each of these bytes of the device's memory `byte`.
  virtual void fill(DeviceStream stream, void* memory, std::uint8_t byte, std::int64_t bytes) = 0;
  virtual void launch(DeviceStream stream, const DeviceLaunch& work) = 0;

  /// From now on what is put into `stream` is captured and not run. A stream that waits for an event which
  /// was recorded in the capture belongs to it from then on. Only `launch`, `copy`, `fill`, `record` and
  /// `wait` are for streams of a capture, whose waits are for events of the same capture alone; nobody else
  /// asks for those events. One capture at a time.
  virtual void beginCapture(DeviceStream stream) = 0;
  /// The stream that the capture began with has waited for all others of it. Slow: the device gets ready for
  /// the work. The streams are as they were before.
  virtual DeviceGraph endCapture() = 0;
  /// All of the captured work in one call, in the order of `stream`, with the arguments and addresses that it
  /// was captured with. A graph that is launched again while it runs starts when it has ended. `name` is for
  /// messages and outlives the work.
  virtual void launchGraph(DeviceStream stream, DeviceGraph graph, const char* name) = 0;
  /// Its launches are done.
  virtual void releaseGraph(DeviceGraph graph) noexcept = 0;

  /// Slow, and may wait for the device: before a run and inside pools
  /// (scheduler/device/memory/device_pool.hpp) only. At least 256-byte aligned. DeviceFault::OutOfMemory
  /// where there is no more.
  virtual void* allocate(DeviceSpace space, std::int64_t bytes) = 0;
  /// No work may use the memory any more.
  virtual void release(DeviceSpace space, void* memory) noexcept = 0;

  /// Addresses of this device, which no peer reaches; before a run only. `pieceBytes` is rounded up to pages.
  /// They end before the backend. DeviceFault::Failed where the driver cannot do that.
  virtual std::unique_ptr<DeviceAddresses> makeAddresses(std::int64_t bytes, std::int64_t pieceBytes) = 0;

  /// Locks memory of the host in place, so that kernels of this and all other devices read and write it where
  /// it is, under the same address, and copies run beside everything else. Slow, as `allocate` is. No two
  /// pieces that are pinned at the same time have a page in common (scheduler/device/backend/pinned_host.hpp
  /// sees to that). The memory outlives its `unpin`.
  virtual void pin(void* memory, std::int64_t bytes) = 0;
  /// What `pin` was given; no work may use it any more.
  virtual void unpin(void* memory) noexcept = 0;
  /// Of the pieces that are pinned now.
  virtual std::int64_t pinnedBytes() const = 0;
  /// From now on kernels of this device may read and write memory of `peer`, a device of the same kind. False
  /// where the machine cannot do that.
  virtual bool enablePeer(DeviceBackend& peer) = 0;
};

}  // namespace tessera
