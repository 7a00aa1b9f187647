// What a GPU makes of batches of patches, and what a patch task costs through a lane.
//
//   tessera_device_bench            # two tables
//   tessera_device_bench --lines    # one figure a line, with its target, for programs
//   tessera_device_bench --gpus     # one line for each GPU that this process can use, and nothing else
//
// Bandwidths count each cell as read once and written once (16 bytes), and are compared with copies measured
// in the same run: of 1 GiB, and of as many cells, whose launch begins and ends as often. The targets are for
// the latter. Patches are gone through forwards and backwards in turn, as bodies of a step are.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "datawarehouse/moves/aligned_layout.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "scheduler/device/lane/device_lane.hpp"
#include "tools/bench/device/bench_kernels.hpp"
#include "tools/bench/figure_lines.hpp"

namespace tessera::bench {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of one `work`, of `count` in a row: the best of five.
double timeOf(DeviceBackend& device, DeviceStream stream, int count, const std::function<void(int)>& work) {
  double best = 1e30;
  for (int repeat = 0; repeat < 6; ++repeat) {
    const double begin = seconds();
    for (int n = 0; n < count; ++n) work(n);
    device.synchronize(stream);
    if (repeat > 0) best = std::min(best, (seconds() - begin) / count);
  }
  return best;
}

/// Doubles on the device, of values that differ.
class Values {
 public:
  Values(DeviceBackend& device, DeviceStream stream, std::int64_t count) : device_(device) {
    data_ = static_cast<double*>(device.allocate(DeviceSpace::Device, count * 8));
    putValues(device, stream, data_, count);
    device.synchronize(stream);
  }
  ~Values() { device_.release(DeviceSpace::Device, data_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  double* data() const { return data_; }

 private:
  DeviceBackend& device_;
  double* data_;
};

// What a patch's kernel works on, of windows of the two arrays.
void bind(StencilPatch& patch, double* from, double* to, const Layout& layout) {
  patch = {{from, layout}, {to, layout}};
}
void bind(OrderedPatch& patch, double* from, double* to, const Layout& layout) {
  patch = {{from, layout}, {to, layout}};
}
void bind(StencilClosure& patch, double* from, double* to, const Layout& layout) {
  patch = {};
  std::fill(std::begin(patch.numbers), std::end(patch.numbers), 1.0);
  patch.from = {from, layout};
  patch.to = {to, layout};
}
void bind(ScalePatch& patch, double* from, double*, const Layout& layout) { patch = {{from, layout}}; }

enum class ReadAhead { On, Off };

/// Cubes of `side` cells with windows one cell wider; tasks 0 .. count-1 go from a to b, the next `count`
/// back.
template <class Arguments>
class Patches {
 public:
  Patches(DeviceBackend& device, DeviceStream stream, std::int64_t side, std::int64_t count,
          ReadAhead prefetchWindows = ReadAhead::On)
      : device_(device), box_{{0, 0, 0}, {side, side, side}} {
    const AlignedLayout aligned = alignRows(Layout(grow(box_, uniformHalo(1)), false, false), box_);
    // Windows start at sectors too.
    const std::int64_t each = (aligned.elements + 31) / 32 * 32;
    a_ = std::make_unique<Values>(device, stream, each * count);
    b_ = std::make_unique<Values>(device, stream, each * count);
    std::vector<BatchPatch<Arguments>> patches(static_cast<std::size_t>(2 * count));
    for (std::int64_t n = 0; n < 2 * count; ++n) {
      double* from = (n < count ? a_ : b_)->data() + each * (n % count);
      double* to = (n < count ? b_ : a_)->data() + each * (n % count);
      auto& patch = patches[static_cast<std::size_t>(n)];
      patch.box = box_;
      bind(patch.arguments, from + aligned.lead, to + aligned.lead, aligned.layout);
      if (prefetchWindows == ReadAhead::On) patch.reads[0] = {from, aligned.elements * 8};
    }
    const auto bytes = static_cast<std::int64_t>(patches.size() * sizeof(patches[0]));
    memory_ = device.allocate(DeviceSpace::Device, bytes);
    device.copy(stream, CopyDirection::HostToDevice, memory_, patches.data(), bytes);
    device.synchronize(stream);
    table_ = {static_cast<const BatchPatch<Arguments>*>(memory_), shapeBlocks(std::span(&box_, 1))};
    numbers_.resize(patches.size());
    std::iota(numbers_.begin(), numbers_.end(), 0);
  }
  ~Patches() { device_.release(DeviceSpace::Device, memory_); }
  Patches(const Patches&) = delete;
  Patches& operator=(const Patches&) = delete;

  const PatchTable<Arguments>& table() const { return table_; }
  std::span<const std::int32_t> there() const { return std::span(numbers_).first(numbers_.size() / 2); }
  std::span<const std::int32_t> back() const { return std::span(numbers_).last(numbers_.size() / 2); }

 private:
  DeviceBackend& device_;
  Box box_;
  std::unique_ptr<Values> a_;
  std::unique_ptr<Values> b_;
  void* memory_ = nullptr;
  PatchTable<Arguments> table_;
  std::vector<std::int32_t> numbers_;
};

double measureCopy(DeviceBackend& device, DeviceStream stream, const FigureLines& lines) {
  constexpr std::int64_t kCount = std::int64_t{1} << 27;
  const Values from(device, stream, kCount);
  const Values to(device, stream, kCount);
  const double byRuntime = timeOf(device, stream, 10, [&](int) {
    device.copy(stream, CopyDirection::WithinDevice, to.data(), from.data(), kCount * 8);
  });
  const double byKernel =
      timeOf(device, stream, 10, [&](int) { putCopy(device, stream, from.data(), to.data(), kCount); });
  const double bytes = 16.0 * kCount;
  std::fprintf(lines.table(), "copy of 1 GiB: %.0f GB/s by the runtime, %.0f GB/s by a kernel\n",
               bytes / byRuntime * 1e-9, bytes / byKernel * 1e-9);
  const double best = bytes / std::min(byRuntime, byKernel);
  lines.add("copy", best * 1e-9, "GB/s");
  return best;
}

/// What is asked of patches of 32^3 and larger, in percent of a copy of as many cells, and of their gap to
/// the kernel by hand.
void addStencilLines(const FigureLines& lines, std::int64_t n, std::int64_t side, double ofCopy,
                     double ofHand) {
  const std::string name = "stencil_" + std::to_string(n) + "_patch_" + std::to_string(side);
  lines.add(name, 100.0 * ofCopy, "%_of_a_copy_as_large", side >= 64 ? ">=85" : ">=70");
  lines.add(name + "_gap", 100.0 * (ofHand - 1.0), "%_over_by_hand", side == 64 ? "<=8" : "-");
}

/// A line of the first table: cells a second against the copies, of 1 GiB and of the same size.
void printLine(std::int64_t n, const std::string& what, double time, double copy, double sameCopy,
               const FigureLines& lines) {
  const double bytes = 16.0 * static_cast<double>(n * n * n);
  std::fprintf(lines.table(),
               "%4lld^3  %-44s %8.1f us %6.0f GB/s %5.1f %% of copy, %5.1f %% of a copy as large\n",
               static_cast<long long>(n), what.c_str(), time * 1e6, bytes / time * 1e-9,
               100.0 * bytes / time / copy, 100.0 * sameCopy / time);
}

/// Seconds of a sweep over `count` patches, there and back in turn.
template <class Arguments>
double sweepTime(DeviceBackend& device, DeviceStream stream, std::int64_t side, std::int64_t count,
                 PatchOrder backOrder, ReadAhead prefetchWindows) {
  const Patches<Arguments> patches(device, stream, side, count, prefetchWindows);
  return timeOf(device, stream, 40, [&](int step) {
    if (step % 2 == 0) {
      putKernel(device, stream, patches.table(), patches.there());
    } else {
      putKernel(device, stream, patches.table(), patches.back(), backOrder);
    }
  });
}

void measureStencil(DeviceBackend& device, DeviceStream stream, std::int64_t n, double copy,
                    const FigureLines& lines) {
  const double bytes = 16.0 * static_cast<double>(n * n * n);
  double sameCopy = 0.0;
  double byHand = 0.0;
  {
    // As patches have them: rows that start at sectors.
    const std::int64_t row = n + 8;
    const Values a(device, stream, row * (n + 2) * (n + 2));
    const Values b(device, stream, row * (n + 2) * (n + 2));
    const auto thereAndBack = [&](const auto& put) {
      return timeOf(device, stream, 40,
                    [&](int step) { put((step % 2 == 0 ? a : b).data(), (step % 2 == 0 ? b : a).data()); });
    };
    sameCopy = thereAndBack([&](double* from, double* to) { putCopy(device, stream, from, to, n * n * n); });
    printLine(n, "copy", sameCopy, copy, sameCopy, lines);
    byHand = thereAndBack(
        [&](double* from, double* to) { putStencilByHand(device, stream, from + 4, to + 4, n, row); });
    printLine(n, "whole, by hand", byHand, copy, sameCopy, lines);
    lines.add("stencil_" + std::to_string(n) + "_by_hand", 100.0 * bytes / byHand / copy, "%_of_copy");
  }
  const auto line = [&]<class Arguments>(Arguments, std::int64_t side, const char* what,
                                         PatchOrder backOrder = PatchOrder::Falling,
                                         ReadAhead prefetchWindows = ReadAhead::On) {
    const std::int64_t count = (n / side) * (n / side) * (n / side);
    const double time = sweepTime<Arguments>(device, stream, side, count, backOrder, prefetchWindows);
    printLine(n, "in " + std::to_string(side) + "^3 patches" + what, time, copy, sameCopy, lines);
    if (*what == '\0') addStencilLines(lines, n, side, sameCopy / time, time / byHand);
  };
  for (const std::int64_t side : {32, 64, 128}) {
    line(StencilPatch{}, side, "");
    line(StencilPatch{}, side, ", always in rising order", PatchOrder::Rising);
  }
  line(StencilPatch{}, 64, ", no read-ahead", PatchOrder::Falling, ReadAhead::Off);
  line(StencilClosure{}, 64, ", closure of 384 bytes");
  line(OrderedPatch{}, 64, ", reads ordered with writes");
  line(ScalePatch{}, 64, ", scaled in place");
}

/// Launches the stencil for each batch of a lane.
class StencilClient : public LaneClient {
 public:
  StencilClient(DeviceBackend& device, const Patches<StencilPatch>& patches)
      : device_(device), patches_(patches) {}
  void launch(std::int32_t, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override {
    putKernel(device_, streams[0], patches_.table(), tasks);
  }

 private:
  DeviceBackend& device_;
  const Patches<StencilPatch>& patches_;
};

/// A way to run patch tasks through a lane.
struct LaneMode {
  const char* words;
  LaneOptions options;
  bool allReport = false;    ///< the host is told of each task, not of the last kind alone
  const char* line = "";     ///< what --lines calls it; "": no line
  const char* target = "-";  ///< in us, for what a task costs beside its kernel
};

const LaneMode kLaneModes[] = {
    {"batched", {}, false, "batched", "<1"},
    {"batched, 1 stream", {1}},
    {"batched, the host told of all", {}, true},
    {"batches of 64", {4, 64}},
    {"one by one, 4 streams", {4, 1}, false, "one_by_one"},
    {"one by one, 1 stream", {1, 1}},
};

/// A step: each patch there and back, so two tasks of which the second waits for the first.
void measureLane(DeviceBackend& device, DeviceStream stream, std::int64_t side, const LaneMode& mode,
                 const FigureLines& lines) {
  const std::int32_t count = side <= 32 ? 4096 : 512;
  const Patches<StencilPatch> patches(device, stream, side, count);
  LanePlan plan;
  for (std::int32_t n = 0; n < 2 * count; ++n)
    plan.tasks.push_back({n / count, 1, mode.allReport || n >= count});
  for (std::int32_t n = 0; n < count; ++n) plan.edges.push_back({n, n + count});
  StencilClient client(device, patches);
  DeviceLane lane(device, mode.options);
  const auto work = lane.prepare(plan);
  const std::int32_t reports = mode.allReport ? 2 * count : count;
  const auto step = [&] {
    lane.begin(*work, client);
    lane.submit(0, 2 * count);
    for (std::int32_t ended = 0; ended < reports;) {
      lane.serve([&](std::int32_t) { ++ended; });
    }
  };
  double best = 1e30;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const double begin = seconds();
    step();
    best = std::min(best, seconds() - begin);
  }
  const double kernels = timeOf(device, stream, 10, [&](int) {
    putKernel(device, stream, patches.table(), patches.there());
    putKernel(device, stream, patches.table(), patches.back());
  });
  const double task = best / (2 * count) * 1e6;
  const double kernel = kernels / (2 * count) * 1e6;
  const LaneCounts& counts = lane.counts();
  std::fprintf(
      lines.table(),
      "%3lld^3  %-44s %7.3f us a task, of which kernels %6.3f; a step: %lld launches, %lld records, %lld "
      "waits\n",
      static_cast<long long>(side), mode.words, task, kernel, static_cast<long long>(counts.launches / 8),
      static_cast<long long>(counts.records / 8), static_cast<long long>(counts.waits / 8));
  if (*mode.line == '\0') return;
  lines.add("task_" + std::to_string(side) + "_" + mode.line, task - kernel, "us_beside_kernel", mode.target);
}

int run(const FigureLines& lines) {
  const auto device = makeCudaDevice(0);
  const DeviceStream stream = device->makeStream();
  const DeviceInfo& info = device->info();
  std::fprintf(lines.table(), "%s, compute capability %s, %d multiprocessors, driver for CUDA %d.%d\n",
               asText(info).c_str(), info.architecture.c_str(), info.processors, info.driverVersion / 1000,
               info.driverVersion % 1000 / 10);
  const double copy = measureCopy(*device, stream, lines);
  const double launch = timeOf(*device, stream, 2000, [&](int) { putNothing(*device, stream); });
  std::fprintf(lines.table(), "an empty kernel: %.2f us a launch\n", launch * 1e6);
  lines.add("empty_kernel", launch * 1e6, "us");
  for (const std::int64_t n : {256, 512}) measureStencil(*device, stream, n, copy, lines);
  for (const std::int64_t side : {1, 16, 32, 64}) {
    for (const LaneMode& mode : kLaneModes) measureLane(*device, stream, side, mode, lines);
  }
  return 0;
}

int listGpus() {
  const std::int32_t count = cudaDeviceCount();
  for (std::int32_t n = 0; n < count; ++n) std::printf("%s\n", asText(makeCudaDevice(n)->info()).c_str());
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  try {
    if (argc == 2 && option == "--gpus") return tessera::bench::listGpus();
    if (argc > 2 || (argc == 2 && option != "--lines")) {
      throw tessera::UsageError("unknown arguments; write --lines, --gpus or nothing");
    }
    return tessera::bench::run(tessera::bench::FigureLines(argc == 2));
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "tessera_device_bench: error: %s\n", error.what());
    return error.exitCode();
  }
}
