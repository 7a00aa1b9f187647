#include "tools/bench/device/stream_split.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "scheduler/device/lane/device_lane.hpp"
#include "tools/bench/device/pattern_kernels.hpp"

namespace tessera::bench {
namespace {

constexpr std::int32_t kTasks = 15;
constexpr std::int64_t kIterations = 400;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Blocks of a task: 20 to 76, on a device of some 132 multiprocessors.
std::int32_t blocksOf(std::int32_t task) { return 20 + 4 * (task * 7 % kTasks); }

/// Tasks whose blocks do nothing but compute.
class Blocks : public LaneClient {
 public:
  explicit Blocks(DeviceBackend& device) : device_(device) {
    for (std::int32_t task = 0; task <= kTasks; ++task) {
      begins_.push_back(task == 0 ? 0 : begins_.back() + blocksOf(task - 1));
    }
    numbers_.resize(static_cast<std::size_t>(begins_.back()));
    std::iota(numbers_.begin(), numbers_.end(), 0);
    const auto count = static_cast<std::int64_t>(numbers_.size());
    stamps_ = device.allocate(DeviceSpace::Device, count * 8);
    std::vector<PatternTask> tasks;
    for (const std::int32_t n : numbers_) {
      tasks.push_back({static_cast<std::uint64_t*>(stamps_), nullptr, 0, n});
    }
    const auto bytes = count * static_cast<std::int64_t>(sizeof(PatternTask));
    tasks_ = device.allocate(DeviceSpace::Device, bytes);
    const DeviceStream stream = device.makeStream();
    device.copy(stream, CopyDirection::HostToDevice, tasks_, tasks.data(), bytes);
    device.synchronize(stream);
  }
  ~Blocks() override {
    device_.release(DeviceSpace::Device, tasks_);
    device_.release(DeviceSpace::Device, stamps_);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void launch(std::int32_t, std::span<const std::int32_t> tasks,
              std::span<const DeviceStream> streams) override {
    // Tasks that are launched together follow each other.
    const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(tasks.front())]);
    const auto end = static_cast<std::size_t>(begins_[static_cast<std::size_t>(tasks.back()) + 1]);
    const auto blocks = std::span(numbers_).subspan(begin, end - begin);
    for (std::size_t part = 0; part < streams.size(); ++part) {
      const std::size_t first = blocks.size() * part / streams.size();
      const std::size_t last = blocks.size() * (part + 1) / streams.size();
      putPatternTasks(device_, streams[part], static_cast<const PatternTask*>(tasks_),
                      blocks.subspan(first, last - first), kIterations);
    }
  }

 private:
  DeviceBackend& device_;
  std::vector<std::int32_t> begins_;   ///< by task, and one more
  std::vector<std::int32_t> numbers_;  ///< of blocks
  void* stamps_ = nullptr;
  void* tasks_ = nullptr;
};

double timeOf(DeviceBackend& device, Blocks& blocks, const LaneOptions& options, std::int32_t parts) {
  LanePlan plan;
  for (std::int32_t n = 0; n < kTasks; ++n) plan.tasks.push_back({0, parts, false});
  DeviceLane lane(device, options);
  const auto work = lane.prepare(plan);
  double best = 1e30;
  for (int repeat = 0; repeat < 20; ++repeat) {
    lane.synchronize();
    const double begin = seconds();
    lane.begin(*work, blocks);
    lane.submit(0, kTasks);
    while (!lane.allLaunched()) lane.serve([](std::int32_t) {});
    lane.synchronize();
    best = std::min(best, seconds() - begin);
  }
  return best;
}

}  // namespace

void measureStreamSplit(DeviceBackend& device, const FigureLines& lines) {
  Blocks blocks(device);
  const double one = timeOf(device, blocks, {.streams = 1, .largestBatch = 1}, 1);
  const auto print = [&](const std::string& name, double time, const char* target) {
    std::fprintf(lines.table(), "15 uneven tasks, %-26s %8.1f us, %5.2f times as fast as in 1 stream\n",
                 name.c_str(), time * 1e6, one / time);
    std::string line = "split_" + name;
    std::replace(line.begin(), line.end(), ' ', '_');
    lines.add(line, one / time, "x_of_1_stream", target);
  };
  print("1 stream", one, "-");
  for (const std::int32_t streams : {2, 4, 8, 15}) {
    print(std::to_string(streams) + " streams", timeOf(device, blocks, {streams, 1}, 1),
          streams == 4 ? ">=1.2" : "-");
  }
  print("4 parts of each", timeOf(device, blocks, {.streams = 4, .largestBatch = 1}, 4), "-");
  print("1 launch", timeOf(device, blocks, {}, 1), "-");
}

}  // namespace tessera::bench
