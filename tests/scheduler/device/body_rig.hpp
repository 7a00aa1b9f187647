#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "datawarehouse/moves/aligned_layout.hpp"
#include "datawarehouse/task_context.hpp"
#include "scheduler/device/loops/kept_loops.hpp"
#include "scheduler/device/loops/task_loops.hpp"
#include "taskgraph/task_body.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera::test {

/// What a body asks of one variable.
struct Use {
  AccessMode mode = AccessMode::ReadOld;
  LabelId label = -1;
  Centering centering = Centering::Cell;
  Halo halo;
};

template <class T, Centering C>
Use use(AccessMode mode, Label<T, C> label, Halo halo = {}) {
  return {mode, label.id, C, halo};
}

/// The patches of a domain and the windows of one task's variables there, each filled with numbers of its
/// own: once as the CPU has them, and once more, with padded rows, for a device.
class BodyRig {
 public:
  /// Patches of different sizes: `pieces` along each axis.
  BodyRig(Extent cells, Extent pieces, std::vector<Use> uses, std::int32_t reductions = 0);

  const Hierarchy& hierarchy() const { return *hierarchy_; }
  std::int32_t patchCount() const { return static_cast<std::int32_t>(hierarchy_->patchCount()); }
  /// Replaces the numbers of a variable: `value(patch, index)`.
  template <class Value>
  void set(LabelId label, const Value& value) {
    for (Window& window : windows_) {
      if (window.use.label != label) continue;
      forEachInWindow(window, [&](Index x) { window.start[at(window.plain, x)] = value(window.patch, x); });
    }
  }

  /// Runs `body` for all patches on the CPU and on the device, in `parts` streams: the same bits everywhere,
  /// halos included, and the same contributions. `repeats`: with the same TaskLoops, one after the other;
  /// then captured, with KeptLoops.
  void expectSameBits(DeviceBackend& backend, const TaskBody& body, std::int32_t parts, int repeats = 1) {
    startOnCpu();
    for (std::int32_t patch = 0; patch < patchCount(); ++patch) {
      frameFor(patch, cpu_, nullptr);
      body.cpu(frame_);
    }
    const Contributions right{contributions_, sums_};
    OnDevice<double> memory(backend, deviceElements());
    DevicePool device(backend, {DeviceSpace::Device, kPool, kPool});
    DevicePool pinned(backend, {DeviceSpace::PinnedHost, kPool, kPool});
    std::vector<DeviceStream> streams;
    while (static_cast<std::int32_t>(streams.size()) < parts) streams.push_back(backend.makeStream());
    TaskLoops loops(backend, device, pinned);
    for (int n = 0; n < repeats; ++n) {
      memory.set(streams.front(), startOnDevice());
      runOnDevice(body, loops, memory.data(), streams);
      for (const DeviceStream stream : streams) backend.synchronize(stream);
      compareWindows(memory.get(streams.front()));
      finish(body, loops, memory.data());
      compareContributions(right);
    }
    KeptLoops kept(backend, device, pinned, streams.front(), parts);
    replay(backend, body, kept, memory, streams, right);
  }

 private:
  struct Window {
    Use use;
    std::int32_t patch = 0;
    Layout plain;
    AlignedLayout aligned;
    std::size_t begin = 0;  ///< on the device, of the memory
    std::vector<double> start;
    std::vector<double> cpu;
  };
  struct Contributions {
    std::vector<PatchContribution> each;  ///< patch by patch
    std::vector<ExactSum> sums;           ///< of each contribution
  };
  enum Side { cpu_, device_ };
  static constexpr std::int64_t kPool = std::int64_t{8} << 20;

  template <class Visit>
  static void forEachInWindow(const Window& window, const Visit& visit) {
    detail::forEachInOrder(window.plain.window, visit);
  }
  static std::size_t at(const Layout& layout, Index x) { return static_cast<std::size_t>(layout.at(x)); }

  void startOnCpu();
  std::vector<double> startOnDevice() const;
  std::size_t deviceElements() const;
  void frameFor(std::int32_t patch, Side side, double* memory);
  void compareWindows(const std::vector<double>& device) const;
  void compareContributions(const Contributions& right) const;

  /// Captures the loops once and launches them with the closures of then, with new ones and with those again.
  void replay(DeviceBackend& backend, const TaskBody& body, KeptLoops& loops, OnDevice<double>& memory,
              const std::vector<DeviceStream>& streams, const Contributions& right) {
    DeviceGraph graph;
    for (const bool calls : {true, true, false}) {
      if (calls) {
        loops.begin();
        record(body, loops, memory.data());
        EXPECT_TRUE(graph.number < 0 || loops.fits()) << "the same loops as before";
        loops.keep();
        loops.upload(streams.front());
      }
      if (graph.number < 0) graph = capture(backend, loops, streams);
      memory.set(streams.front(), startOnDevice());
      backend.launchGraph(streams.front(), graph, "test graph");
      backend.synchronize(streams.front());
      compareWindows(memory.get(streams.front()));
      finish(body, loops, memory.data());
      compareContributions(right);
    }
    backend.releaseGraph(graph);
  }
  static DeviceGraph capture(DeviceBackend& backend, KeptLoops& loops,
                             const std::vector<DeviceStream>& streams) {
    const auto chain = [&](DeviceStream first, DeviceStream then) {
      const DeviceEvent event = backend.makeEvent();
      backend.record(event, first);
      backend.wait(then, event);
    };
    backend.beginCapture(streams.front());
    for (std::size_t n = 1; n < streams.size(); ++n) chain(streams.front(), streams[n]);
    loops.put(streams);
    for (std::size_t n = 1; n < streams.size(); ++n) chain(streams[n], streams.front());
    return backend.endCapture();
  }

  void runOnDevice(const TaskBody& body, TaskLoops& loops, double* memory,
                   const std::vector<DeviceStream>& streams) {
    loops.begin(static_cast<std::int32_t>(streams.size()));
    record(body, loops, memory);
    loops.launch(streams);
  }
  template <class Loops>
  void record(const TaskBody& body, Loops& loops, double* memory) {
    for (std::int32_t patch = 0; patch < patchCount(); ++patch) {
      frameFor(patch, device_, memory);
      frame_.loops = &loops.instance(patch);
      body.device(frame_);
      for (const PatchContribution& c : frame_.contributions) ASSERT_FALSE(c.given) << "not known yet";
    }
  }
  template <class Loops>
  void finish(const TaskBody& body, Loops& loops, double* memory) {
    for (std::int32_t patch = patchCount(); patch-- > 0;) {
      frameFor(patch, device_, memory);
      frame_.loops = &loops.finished(patch);
      body.device(frame_);
    }
  }

  std::shared_ptr<const Hierarchy> hierarchy_;
  std::int32_t reductions_;
  std::vector<Window> windows_;  // patch by patch
  std::size_t usesEach_;
  LabelTable labels_;
  TaskFrame frame_;
  std::vector<TaskAccess> accesses_;
  std::vector<PatchContribution> contributions_;  // patch by patch
  std::vector<ExactSum> sums_;                    // of each contribution
};

}  // namespace tessera::test
