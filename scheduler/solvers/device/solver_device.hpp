#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/device/loops/kept_loops.hpp"
#include "scheduler/device/memory/device_access.hpp"
#include "scheduler/solvers/device/device_traffic.hpp"

namespace tessera {

/// What a solver on a device has of it: memory for numbers, and loops that are recorded and launched together
/// when somebody waits for what they find.
///
///   device.begin(SolverDevice::Section::Iteration);
///   device.nextPlace();
///   recordLoop(device.loops(), box, kernel);        // some loops that may run at once
///   device.nextPlace();
///   recordReduction(device.loops(), box, other, Sum);
///   device.run();                                   // waits
///   ... = device.nextWords();
///
/// What is recorded from one wait to the next is a batch. Batches of a section follow each other in the same
/// order each time; one that has come with the same loops before is a graph of the device from then on, of
/// which only the closures are new. One thread a rank, which is the device's while plans do not run.
class SolverDevice {
 public:
  /// `device` is there until the object ends.
  explicit SolverDevice(const DeviceAccess& device);
  /// Waits for the device. Nobody has memory of it any more.
  ~SolverDevice();
  SolverDevice(const SolverDevice&) = delete;
  SolverDevice& operator=(const SolverDevice&) = delete;

  const DeviceAccess& access() const { return device_; }

  struct Return {
    SolverDevice* device = nullptr;
    DevicePool* pool = nullptr;
    void operator()(double* numbers) const;
  };
  using Numbers = std::unique_ptr<double[], Return>;
  /// Numbers on the device, all 0. Throws DeviceFault::OutOfMemory.
  Numbers allocate(std::size_t count);
  /// Of the host, for copies; they are not set.
  Numbers allocatePinned(std::size_t count);

  /// Parts of a solve, each with batches of its own.
  enum class Section { Assembly, Setup, Start, Iteration, End };
  /// What is recorded from now on is the first batch of that section. Runs what was recorded before.
  void begin(Section section);
  /// Loops from now on run after all that were recorded before.
  void nextPlace();
  /// What takes loops that may run at once.
  DeviceLoops& loops();
  /// Launches what was recorded since the last call.
  void launch();
  /// Until the device has done all.
  void wait();
  void run() {
    launch();
    wait();
  }
  /// After `run`: the words of the next reduction, in the order of recording.
  std::span<const std::int64_t> nextWords();

  /// Both are done in the order of launches; the host's memory is pinned.
  void copyToDevice(double* to, const double* pinned, std::size_t count);
  void copyToHost(double* pinned, const double* from, std::size_t count);

  const DeviceTraffic& traffic() const { return traffic_; }

 private:
  struct Batch {
    explicit Batch(SolverDevice& solver);
    KeptLoops loops;
    DeviceGraph graph{};
  };
  Batch& current();

  const DeviceAccess device_;
  const DeviceStream stream_;
  Section section_ = Section::Assembly;
  std::map<Section, std::vector<std::unique_ptr<Batch>>> batches_;
  std::size_t number_ = 0;  ///< of the batch that is recorded, in its section
  bool isOpen_ = false;     ///< something was recorded since the last launch
  bool isBusy_ = false;     ///< something was launched since the last wait
  std::int32_t place_ = 0;
  KeptLoops* launched_ = nullptr;    ///< the last batch, until somebody has waited for it
  DeviceLoops* finished_ = nullptr;  ///< the last one that somebody has waited for
  DeviceTraffic traffic_;
};

}  // namespace tessera
