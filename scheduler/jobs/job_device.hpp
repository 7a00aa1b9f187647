#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/device/backend/device_backend.hpp"
#include "scheduler/jobs/job.hpp"

namespace tessera::jobs {

/// A task that is about to run.
struct JobTask {
  const Job* job = nullptr;
  JobForm form = JobForm::Regular;
  Box units;
  std::vector<DomainPart> parts;
  std::vector<std::uint64_t>
      versions;  ///< by part: of the domain before the job and, where it is written, after
  std::vector<std::uint64_t> nextVersions;
};

/// What a task has left.
struct TaskEnd {
  TaskFault fault = TaskFault::None;
  std::int64_t pushed = 0;
  std::int64_t ended = 0;
  std::int64_t calls = 0;
  std::int64_t shared = 0;  ///< units that went from one block to another
  double begun = 0.0;  ///< by `secondsNow`, where a thread of the host ran it; 0: it was handed to a device
  double done = 0.0;
};

/// Seconds of the clock by which tasks are timed.
double secondsNow();

/// Copies between the host and a device.
struct CopyCounts {
  std::int64_t toDevice = 0;
  std::int64_t fromDevice = 0;
  std::int64_t toDeviceBytes = 0;
  std::int64_t fromDeviceBytes = 0;

  friend CopyCounts operator+(const CopyCounts& a, const CopyCounts& b) {
    return {a.toDevice + b.toDevice, a.fromDevice + b.fromDevice, a.toDeviceBytes + b.toDeviceBytes,
            a.fromDeviceBytes + b.fromDeviceBytes};
  }
};

/// Where tasks of jobs run: the threads of the host, or a device. Has slots, the execution window: so many
/// tasks are handed to it at a time, and those that wait get their data meanwhile. Of one thread, the
/// runner's.
class JobDevice {
 public:
  JobDevice() = default;
  JobDevice(const JobDevice&) = delete;
  JobDevice& operator=(const JobDevice&) = delete;
  virtual ~JobDevice() = default;

  virtual const std::string& name() const = 0;
  virtual int slots() const = 0;
  /// Whether a slot runs one unit at a time, so that its pace does not depend on the size of its tasks.
  virtual bool isNarrow() const { return false; }
  /// Units that run at a time; tasks of fewer take as long.
  virtual std::int64_t width() const { return 1; }
  /// Before the first task of a job: what the first launch of a kernel takes on a GPU (its code is loaded,
  /// memory for its stack is made, both while the calling thread waits) is not to keep the tasks of others
  /// waiting.
  virtual void prepare(const Job&) {}
  /// Hands a task to a slot that is free. False: its data find no room now.
  virtual bool start(int slot, const JobTask& task) = 0;
  /// True: the task of the slot has ended, what it wrote is in its domains, and the slot is free.
  virtual bool poll(int slot, TaskEnd& end) = 0;
  /// All tasks of the job have ended: adds what this device has added up to the sums of the job.
  virtual void finish(const Job& job) = 0;
  /// The domain is about to go: what the device has of it is worth nothing. No task of it is under way.
  virtual void forget(const DomainBase&) {}
  /// The calling thread is the one that uses the device from now on.
  virtual void bindThread() {}
  virtual const CopyCounts& copies() const = 0;
};

/// Threads of the host as one device with two slots a thread; 0 threads: the runner's own, one task a poll.
std::unique_ptr<JobDevice> makeHostJobDevice(int threads);

/// How a device takes tasks.
struct BackendJobOptions {
  int window = 2;                        ///< tasks in flight
  std::int64_t memoryBytes = 256 << 20;  ///< for parts of domains and for queues
  std::int32_t blocks = 0;  ///< of a task; 0: as many as a GPU has room for, three on an emulated device
  std::int32_t lanes = 0;   ///< threads of a block; 0: 128 on a GPU, 32 on an emulated device
};

/// A GPU or an emulated device. Throws DeviceError where it has no memory.
std::unique_ptr<JobDevice> makeBackendJobDevice(std::unique_ptr<DeviceBackend> device,
                                                const BackendJobOptions& options);

}  // namespace tessera::jobs
