#include "scheduler/device/backend/emulated_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/text/contracts.hpp"
#include "scheduler/device/backend/emulated_addresses.hpp"
#include "scheduler/device/backend/emulated_capture.hpp"
#include "scheduler/device/backend/emulated_queue.hpp"

namespace tessera {

namespace {

constexpr std::align_val_t kAlignment{256};

using detail::Completion;
using detail::EmulatedCapture;
using detail::EmulatedGraph;
using detail::EmulatedQueue;
using detail::EmulatedWork;

struct EmulatedStream {
  EmulatedQueue queue;
  std::thread thread;              ///< none when stepped
  const char* launched = nullptr;  ///< the name of its last launch
};

struct FillArguments {
  void* memory = nullptr;
  std::size_t bytes = 0;
  std::uint8_t byte = 0;
};

void runFill(const void* arguments, void*) {
  FillArguments fill;
  std::memcpy(&fill, arguments, sizeof(fill));
  std::memset(fill.memory, fill.byte, fill.bytes);
}

class EmulatedDevice final : public DeviceBackend {
 public:
  explicit EmulatedDevice(const EmulatedOptions& options) : options_(options), random_(options.seed) {
    info_.name = "emulated device";
    info_.number = options.number;
    info_.processors = static_cast<std::int32_t>(std::thread::hardware_concurrency());
    info_.memoryBytes = options.memoryBytes;
  }
  ~EmulatedDevice() override;

  const DeviceInfo& info() const override { return info_; }
  void bindThread() override {}

  DeviceStream makeStream() override;
  // Each stream has a thread, and none waits for room.
  DeviceStream makeUrgentStream() override { return makeStream(); }
  DeviceEvent makeEvent() override { return addEvent(false); }
  DeviceEvent makeTimedEvent() override { return addEvent(true); }
  void record(DeviceEvent event, DeviceStream stream) override;
  bool isDone(DeviceEvent event) override;
  double secondsBetween(DeviceEvent first, DeviceEvent then) override;
  void wait(DeviceStream stream, DeviceEvent event) override;
  void waitForPeer(DeviceStream stream, DeviceBackend& peer, DeviceEvent event) override;
  void synchronize(DeviceStream stream) override;
  void copy(DeviceStream stream, CopyDirection direction, void* to, const void* from,
            std::int64_t bytes) override;
  void fill(DeviceStream stream, void* memory, std::uint8_t byte, std::int64_t bytes) override;
  void launch(DeviceStream stream, const DeviceLaunch& work) override;
  void beginCapture(DeviceStream stream) override;
  DeviceGraph endCapture() override;
  void launchGraph(DeviceStream stream, DeviceGraph graph, const char* name) override;
  void releaseGraph(DeviceGraph graph) noexcept override;
  void* allocate(DeviceSpace space, std::int64_t bytes) override;
  void release(DeviceSpace space, void* memory) noexcept override;
  std::unique_ptr<DeviceAddresses> makeAddresses(std::int64_t bytes, std::int64_t pieceBytes) override {
    return std::make_unique<detail::EmulatedAddresses>(bytes, pieceBytes, asText(info_), allocatedBytes_,
                                                       options_.memoryBytes, options_.pageBytes);
  }
  void pin(void* memory, std::int64_t bytes) override;
  void unpin(void* memory) noexcept override;
  std::int64_t pinnedBytes() const override { return pinnedBytes_; }
  bool enablePeer(DeviceBackend& peer) override;

 private:
  /// What an event is, and its last record; none yet: null.
  struct Event {
    bool isTimed = false;
    std::shared_ptr<Completion> last;
    bool isCaptured = false;  ///< its last record was in a capture: nobody may ask for it
  };
  /// Captured work, and the streams of the device in which those of its streams run that joined later.
  struct Graph {
    EmulatedGraph work;
    std::vector<DeviceStream> sides;
  };

  DeviceEvent addEvent(bool isTimed);
  EmulatedStream& at(DeviceStream stream) { return streams_[static_cast<std::size_t>(stream.number)]; }
  /// What it is now, whoever records it at the same moment.
  Event at(DeviceEvent event) {
    const std::lock_guard lock(eventsMutex_);
    return events_[static_cast<std::size_t>(event.number)];
  }
  static EmulatedDevice& asEmulated(DeviceBackend& peer);
  void enqueue(DeviceStream stream, const char* call, EmulatedWork work);
  void throwIfLost(const char* call);
  void serveStream(EmulatedStream& stream, std::uint64_t seed);
  void perform(const EmulatedWork& work);
  bool step();
  bool stepSomewhere();
  void know(EmulatedDevice& peer);

  EmulatedOptions options_;
  DeviceInfo info_;
  std::deque<EmulatedStream> streams_;  ///< a deque: their threads hold references
  std::mutex eventsMutex_;  ///< other devices look at events while this one makes and records some
  std::vector<Event> events_;
  std::optional<EmulatedCapture> capture_;
  std::vector<Graph> graphs_;
  std::map<void*, std::int64_t> allocated_;
  std::int64_t allocatedBytes_ = 0;
  std::map<void*, std::int64_t> pinned_;
  std::int64_t pinnedBytes_ = 0;
  std::mt19937_64 random_;  ///< of steps and of the seeds of streams
  /// Itself first; then those with which it has memory in common, whose work its own may wait for.
  std::vector<EmulatedDevice*> together_{this};
  std::atomic<std::int64_t> performed_{0};
};

EmulatedDevice::~EmulatedDevice() {
  if (options_.progress == EmulatedProgress::Stepped) {
    // What waits for an event of a device that is gone already stays undone.
    while (step()) {
    }
  }
  for (EmulatedDevice* other : together_) {
    if (other != this) std::erase(other->together_, this);
  }
  for (EmulatedStream& stream : streams_) stream.queue.close();
  for (EmulatedStream& stream : streams_) {
    if (stream.thread.joinable()) stream.thread.join();
  }
  for (const auto& [memory, bytes] : allocated_) ::operator delete(memory, kAlignment);
}

EmulatedDevice& EmulatedDevice::asEmulated(DeviceBackend& peer) {
  auto* emulated = dynamic_cast<EmulatedDevice*>(&peer);
  TESSERA_EXPECT(emulated != nullptr, "give a peer of the same kind: an emulated device has no other peers");
  return *emulated;
}

DeviceStream EmulatedDevice::makeStream() {
  EmulatedStream& stream = streams_.emplace_back();
  const std::uint64_t seed = random_();
  if (options_.progress == EmulatedProgress::Threads) {
    stream.thread = std::thread([this, &stream, seed] { serveStream(stream, seed); });
  }
  return {static_cast<std::int32_t>(streams_.size()) - 1};
}

DeviceEvent EmulatedDevice::addEvent(bool isTimed) {
  const std::lock_guard lock(eventsMutex_);
  events_.push_back({isTimed, nullptr});
  return {static_cast<std::int32_t>(events_.size()) - 1};
}

void EmulatedDevice::serveStream(EmulatedStream& stream, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> delay(0, options_.longestDelay.count());
  while (const EmulatedWork* work = stream.queue.waitForNext()) {
    std::this_thread::sleep_for(std::chrono::microseconds(delay(random)));
    perform(*work);
    stream.queue.pop();
  }
}

void EmulatedDevice::perform(const EmulatedWork& work) {
  const std::int64_t before = performed_.fetch_add(1);
  if (options_.failsAfter < 0 || before < options_.failsAfter) {
    work.perform();
  } else if (work.completes != nullptr) {
    // A lost device does nothing more, but nobody may wait for it for ever.
    work.completes->complete();
  }
}

bool EmulatedDevice::step() {
  std::vector<EmulatedStream*> ready;
  for (EmulatedStream& stream : streams_) {
    const EmulatedWork* next = stream.queue.next();
    if (next != nullptr && !next->isBlocked()) ready.push_back(&stream);
  }
  if (ready.empty()) return false;
  EmulatedQueue& queue = ready[random_() % ready.size()]->queue;
  perform(*queue.next());
  queue.pop();
  return true;
}

/// Of a device that is stepped, or of one whose work it may wait for.
bool EmulatedDevice::stepSomewhere() {
  const std::size_t count = together_.size();
  const std::size_t first = count == 1 ? 0 : random_() % count;
  for (std::size_t n = 0; n < count; ++n) {
    if (together_[(first + n) % count]->step()) return true;
  }
  return false;
}

/// From now on the two, and all that either had to do with, are stepped together.
void EmulatedDevice::know(EmulatedDevice& peer) {
  if (std::count(together_.begin(), together_.end(), &peer) > 0) return;
  std::vector<EmulatedDevice*> all = together_;
  all.insert(all.end(), peer.together_.begin(), peer.together_.end());
  for (EmulatedDevice* device : all) {
    device->together_ = all;
    std::erase(device->together_, device);
    device->together_.insert(device->together_.begin(), device);
  }
}

bool EmulatedDevice::enablePeer(DeviceBackend& peer) {
  EmulatedDevice& other = asEmulated(peer);
  if (options_.progress == EmulatedProgress::Stepped) know(other);
  return true;
}

void EmulatedDevice::throwIfLost(const char* call) {
  if (options_.failsAfter < 0 || performed_.load() <= options_.failsAfter) return;
  DeviceFailure failure{DeviceFault::Lost, asText(info_), "the device is lost (a planned fault)", call, {}};
  for (std::size_t n = 0; n < streams_.size(); ++n) {
    if (streams_[n].launched == nullptr) continue;
    if (!failure.launched.empty()) failure.launched += ", ";
    failure.launched += std::string(streams_[n].launched) + " on stream " + std::to_string(n);
  }
  throw deviceError(failure);
}

void EmulatedDevice::enqueue(DeviceStream stream, const char* call, EmulatedWork work) {
  throwIfLost(call);
  if (capture_ && capture_->has(stream)) {
    capture_->add(stream, std::move(work));
  } else {
    at(stream).queue.push(std::move(work));
  }
}

void EmulatedDevice::record(DeviceEvent event, DeviceStream stream) {
  throwIfLost("record");
  const bool isCaptured = capture_ && capture_->has(stream);
  EmulatedWork work;
  work.completes = std::make_shared<Completion>(at(event).isTimed);
  {
    const std::lock_guard lock(eventsMutex_);
    Event& entry = events_[static_cast<std::size_t>(event.number)];
    entry.isCaptured = isCaptured;
    if (!isCaptured) entry.last = work.completes;
  }
  if (isCaptured) return capture_->record(stream, event);
  // From here on somebody may wait for it, so it goes into the stream even if the device is lost by now.
  at(stream).queue.push(std::move(work));
}

bool EmulatedDevice::isDone(DeviceEvent event) {
  throwIfLost("isDone");
  TESSERA_EXPECT(!at(event).isCaptured, "ask for events that were recorded outside of captures");
  if (options_.progress == EmulatedProgress::Stepped) {
    for (std::uint64_t steps = random_() % 4; steps > 0 && stepSomewhere(); --steps) {
    }
  }
  const Event entry = at(event);
  return entry.last == nullptr || entry.last->isDone();
}

double EmulatedDevice::secondsBetween(DeviceEvent first, DeviceEvent then) {
  for (const DeviceEvent event : {first, then}) {
    const Event entry = at(event);
    TESSERA_EXPECT(entry.isTimed, "make an event with makeTimedEvent to ask for its time");
    TESSERA_EXPECT(entry.last != nullptr && entry.last->isDone(), "ask for a time when both events are done");
  }
  return std::chrono::duration<double>(at(then).last->reachedAt() - at(first).last->reachedAt()).count();
}

void EmulatedDevice::wait(DeviceStream stream, DeviceEvent event) {
  if (at(event).isCaptured) {
    TESSERA_EXPECT(capture_.has_value(), "wait for an event of a capture before that one ends");
    return capture_->wait(stream, event);
  }
  waitForPeer(stream, *this, event);
}

void EmulatedDevice::waitForPeer(DeviceStream stream, DeviceBackend& peer, DeviceEvent event) {
  TESSERA_EXPECT(!capture_ || !capture_->has(stream), "let a stream of a capture wait for its events alone");
  EmulatedDevice& other = asEmulated(peer);
  EmulatedWork work;
  work.waitsFor = other.at(event).last;
  if (work.waitsFor == nullptr) return;
  enqueue(stream, "wait", std::move(work));
  if (options_.progress == EmulatedProgress::Stepped) know(other);
}

void EmulatedDevice::synchronize(DeviceStream stream) {
  TESSERA_EXPECT(!capture_ || !capture_->has(stream), "wait for a stream after its capture");
  if (options_.progress == EmulatedProgress::Threads) {
    at(stream).queue.waitUntilEmpty();
  } else {
    while (!at(stream).queue.isEmpty()) {
      TESSERA_EXPECT(stepSomewhere(),
                     "poll the device whose event is waited for: a stepped device moves only then");
    }
  }
  throwIfLost("synchronize");
}

void EmulatedDevice::copy(DeviceStream stream, CopyDirection, void* to, const void* from,
                          std::int64_t bytes) {
  EmulatedWork work;
  work.to = to;
  work.from = from;
  work.bytes = static_cast<std::size_t>(bytes);
  enqueue(stream, "copy", std::move(work));
}

void EmulatedDevice::fill(DeviceStream stream, void* memory, std::uint8_t byte, std::int64_t bytes) {
  const FillArguments fill{memory, static_cast<std::size_t>(bytes), byte};
  const auto arguments = std::as_bytes(std::span(&fill, 1));
  EmulatedWork work;
  work.run = runFill;
  work.arguments.assign(arguments.begin(), arguments.end());
  enqueue(stream, "fill", std::move(work));
}

void EmulatedDevice::launch(DeviceStream stream, const DeviceLaunch& launched) {
  at(stream).launched = launched.name;
  EmulatedWork work;
  work.run = launched.run;
  work.arguments.assign(launched.arguments.begin(), launched.arguments.end());
  enqueue(stream, "launch", std::move(work));
}

void EmulatedDevice::beginCapture(DeviceStream stream) {
  TESSERA_EXPECT(!capture_.has_value(), "end a capture before the next one begins");
  throwIfLost("beginCapture");
  capture_.emplace(stream);
}

DeviceGraph EmulatedDevice::endCapture() {
  TESSERA_EXPECT(capture_.has_value(), "begin a capture before it ends");
  Graph graph{std::exchange(capture_, std::nullopt)->finish(), {}};
  while (std::ssize(graph.sides) + 1 < graph.work.streamCount) graph.sides.push_back(makeStream());
  graphs_.push_back(std::move(graph));
  return {static_cast<std::int32_t>(graphs_.size()) - 1};
}

void EmulatedDevice::launchGraph(DeviceStream stream, DeviceGraph graph, const char* name) {
  const Graph& entry = graphs_[static_cast<std::size_t>(graph.number)];
  at(stream).launched = name;
  std::vector<std::shared_ptr<Completion>> completions;
  while (std::ssize(completions) < entry.work.recordCount) {
    completions.push_back(std::make_shared<Completion>());
  }
  for (const EmulatedGraph::Piece& piece : entry.work.pieces) {
    EmulatedWork work = piece.work;
    if (piece.completes >= 0) work.completes = completions[static_cast<std::size_t>(piece.completes)];
    if (piece.waitsFor >= 0) work.waitsFor = completions[static_cast<std::size_t>(piece.waitsFor)];
    const auto side = static_cast<std::size_t>(piece.stream);
    enqueue(side == 0 ? stream : entry.sides[side - 1], "launchGraph", std::move(work));
  }
}

void EmulatedDevice::releaseGraph(DeviceGraph graph) noexcept {
  graphs_[static_cast<std::size_t>(graph.number)] = {};
}

void* EmulatedDevice::allocate(DeviceSpace space, std::int64_t bytes) {
  // Memory that is, or can be, the host's has no limit here.
  const std::int64_t counted = space == DeviceSpace::Device ? bytes : 0;
  if (counted > options_.memoryBytes - allocatedBytes_) {
    throw outOfDeviceMemory(asText(info_), "an allocation", bytes, allocatedBytes_, options_.memoryBytes);
  }
  void* memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment);
  allocated_[memory] = counted;
  allocatedBytes_ += counted;
  return memory;
}

void EmulatedDevice::release(DeviceSpace, void* memory) noexcept {
  const auto found = allocated_.find(memory);
  if (found == allocated_.end()) return;
  allocatedBytes_ -= found->second;
  allocated_.erase(found);
  ::operator delete(memory, kAlignment);
}

void EmulatedDevice::pin(void* memory, std::int64_t bytes) {
  const auto next = pinned_.lower_bound(memory);
  const auto endsBehind = [&](const auto& piece) {
    return static_cast<char*>(piece.first) + piece.second > static_cast<char*>(memory);
  };
  const bool apart =
      (next == pinned_.end() || static_cast<char*>(next->first) >= static_cast<char*>(memory) + bytes) &&
      (next == pinned_.begin() || !endsBehind(*std::prev(next)));
  TESSERA_EXPECT(apart, "pin each byte of the host once");
  pinned_[memory] = bytes;
  pinnedBytes_ += bytes;
}

void EmulatedDevice::unpin(void* memory) noexcept {
  const auto found = pinned_.find(memory);
  if (found == pinned_.end()) return;
  pinnedBytes_ -= found->second;
  pinned_.erase(found);
}

}  // namespace

std::unique_ptr<DeviceBackend> makeEmulatedDevice(const EmulatedOptions& options) {
  if (options.refuses) {
    const bool old = *options.refuses == DeviceFault::DriverTooOld;
    throw deviceError({*options.refuses,
                       "emulated device " + std::to_string(options.number),
                       old ? "its driver is too old (a planned fault)" : "there is none (a planned fault)",
                       {},
                       {}});
  }
  return std::make_unique<EmulatedDevice>(options);
}

}  // namespace tessera
