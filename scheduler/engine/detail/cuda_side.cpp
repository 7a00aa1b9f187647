#include "core/text/error.hpp"
#include "scheduler/engine/detail/engine_side.hpp"

#if defined(TESSERA_HAVE_CUDA)

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/engine/detail/cuda_memory.hpp"
#include "scheduler/engine/detail/device_program.hpp"
#include "scheduler/engine/detail/late_kernels.hpp"
#include "scheduler/engine/detail/load_kernels.hpp"
#include "scheduler/engine/queues/host_memory.hpp"

namespace tessera::engine {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kStagingBytes = std::size_t{1} << 20;
/// A kernel whose tasks do not end within this time of being asked to is a fault of the tasks.
constexpr auto kLongestEnd = 120s;
constexpr auto kLongestBegin = 10s;
/// Tasks ahead whose place in pinned memory is asked for: the device has touched it last.
constexpr std::uint64_t kAhead = 6;

/// How many blocks there are, and what each does.
struct Grid {
  std::int32_t resident = 0;  ///< blocks launched: all that fit on the whole device
  std::int32_t total = 0;     ///< those that stay
  std::int32_t blocks[kWidths] = {};
  int sharedBytes = 0;
  std::int32_t multiprocessors = 0;
};

Grid gridOf(const Program& program, EngineOptions& options, const cudaDeviceProp& device) {
  if (program.device == nullptr) {
    throw UsageError(
        "the program " + program.name +
        " was not compiled by nvcc; call makeProgram in a source whose name ends in _kernels.cpp");
  }
  if (options.capacity < 64) throw UsageError("an engine on a GPU has a capacity of at least 64 tasks");
  if (options.blockThreads < 64 || options.blockThreads > kMostThreads || options.blockThreads % 32 != 0) {
    throw UsageError("a block of the engine has 64 to 256 threads, a multiple of 32, not " +
                     std::to_string(options.blockThreads));
  }
  Grid grid;
  grid.sharedBytes =
      engineSharedBytes(options.blockThreads) + options.workspaceBytes * (options.blockThreads / 32);
  int fit = 0;
  checkCuda(static_cast<cudaError_t>(program.device->prepare(options.blockThreads, grid.sharedBytes, &fit)),
            "load the super-kernel (too much EngineOptions::workspaceBytes?)");
  if (options.multiprocessors <= 0) options.multiprocessors = device.multiProcessorCount;
  grid.multiprocessors = std::min(options.multiprocessors, device.multiProcessorCount);
  const int each =
      options.blocksPerMultiprocessor <= 0 ? fit : std::min(fit, options.blocksPerMultiprocessor);
  if (each < 1)
    throw UsageError("no block of the engine fits on a multiprocessor; give it less workspaceBytes");
  options.blocksPerMultiprocessor = each;
  // Blocks on multiprocessors that are to stay free end at once, so the launch has one for every place.
  grid.resident = each * device.multiProcessorCount;
  const std::int32_t workers = each * grid.multiprocessors - 1;
  std::int32_t asked = 0;
  std::int32_t widths = 0;
  bool has[kWidths] = {};
  for (const KindInfo& kind : program.kinds) has[static_cast<int>(kind.width)] = true;
  for (int n = 0; n < kWidths; ++n) {
    asked += options.blocks[n];
    widths += has[n] ? 1 : 0;
    if (options.blocks[n] > 0) has[n] = true;
  }
  for (int n = 0; n < kWidths; ++n) {
    grid.blocks[n] = asked > 0 ? options.blocks[n] : has[n] ? std::max(1, workers / widths) : 0;
    grid.total += grid.blocks[n];
  }
  if (grid.total > workers) {
    throw UsageError("the engine asks for " + std::to_string(grid.total) + " blocks of workers, but only " +
                     std::to_string(workers) + " can be resident on " + std::to_string(grid.multiprocessors) +
                     " multiprocessors beside the one that serves them");
  }
  return grid;
}

/// A kernel that stays on a GPU. Everything that it needs is made before it starts, and freed after its end:
/// most calls of CUDA that make or free something wait for the device to be idle (docs/engine.md).
class CudaSide final : public EngineSide {
 public:
  CudaSide(const Program& program, const EngineOptions& options);
  ~CudaSide() override;

  const EngineOptions& options() const override { return options_; }
  std::int32_t workers() const override { return grid_.total * (options_.blockThreads / 32); }
  std::int64_t fetch(std::span<Completion> completions) override {
    std::int64_t count = 0;
    while (count < std::ssize(completions) &&
           input_.state.outbox.get(fetched_, completions[static_cast<std::size_t>(count)])) {
      __builtin_prefetch(input_.state.outbox.place(fetched_ + kAhead));
      ++count;
      ++fetched_;
    }
    // Tasks that a silent host has made give up have no results; `checkAlive` tells the caller.
    if (count > 0 && hostWasSilent()) return 0;
    return count;
  }
  ScopedAtomic<std::uint32_t, Scope::System>* cancelWords() override { return cancelled_; }
  std::int64_t deliver(std::span<const Task> tasks) override {
    // A place is there for each, or will be when the feeder has read its bundle: no more tasks have tickets
    // of the host than the inbox has places.
    std::uint64_t ticket = inboxTail_.fetch_add(tasks.size(), std::memory_order_relaxed);
    for (const Task& task : tasks) {
      while (!isFree(ticket)) pauseBriefly();
      __builtin_prefetch(input_.inbox.place(ticket + kAhead), 1);
      input_.inbox.put(ticket++, task);
    }
    return std::ssize(tasks);
  }
  std::int64_t openTasks() override;
  void runQueue(std::uint64_t reports) override;
  bool turn() override { return false; }
  void checkAlive() override;

  TaskMemory::Answer allocate(std::uint64_t bytes) override {
    return ours_->view().allocate(bytes, hints_, 0);
  }
  bool isOfTasks(std::uint64_t address) const override {
    const std::uint64_t base = input_.state.memory.base;
    return address >= base && address < base + input_.state.memory.pages * SlabClasses::kPageBytes;
  }
  MemoryFault release(std::uint64_t address) override { return ours_->view().release(address); }
  std::int64_t bytesInUse() const override { return static_cast<std::int64_t>(ours_->view().bytesInUse()); }
  void copyIn(void* to, const void* from, std::int64_t bytes) override {
    copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, cudaMemcpyHostToDevice);
  }
  void copyOut(void* to, const void* from, std::int64_t bytes) override {
    copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, cudaMemcpyDeviceToHost);
  }
  std::vector<NoteCopy> notes() override;

 private:
  bool isFree(std::uint64_t ticket) const {
    if (ticket <= input_.inbox.mask) return true;
    const std::uint64_t before = (ticket - input_.inbox.mask - 1) / 32;
    return input_.read[before & (input_.inbox.mask / 32)].load(std::memory_order_acquire) == before + 1;
  }
  bool hostWasSilent() const {
    return input_.words->ending.load(std::memory_order_acquire) == HostWords::HostSilent;
  }
  void plan(const Program& program);
  void emptyQueues();
  void start(HostWords::Command command);
  bool ended() const { return cudaStreamQuery(kernelStream_) != cudaErrorNotReady; }
  void awaitBegin();
  void awaitEnd();
  void stopHeart();
  void destroyHandles();
  void hasEnded() {
    running_ = false;
    residentEnds();
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes, cudaMemcpyKind way);
  template <class T>
  void upload(T* to, const T* from, std::size_t count) {
    checkCuda(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, copyStream_), "copy");
    checkCuda(cudaStreamSynchronize(copyStream_), "copy");
  }
  /// By copies of zeros: memory is set by kernels, which would wait for ever where another engine keeps all
  /// places of the GPU.
  void clear(void* to, std::size_t bytes) {
    const std::vector<std::byte> zeros(bytes);
    upload(static_cast<std::byte*>(to), zeros.data(), bytes);
  }

  EngineOptions options_;
  const Program& program_;
  Grid grid_;
  cudaStream_t kernelStream_ = nullptr;
  cudaStream_t copyStream_ = nullptr;
  cudaEvent_t copied_ = nullptr;
  std::unique_ptr<CudaPiece> device_;
  std::unique_ptr<CudaPiece> host_;
  KernelInput input_;
  std::unique_ptr<SlabRecords<ScopedAtomics<Scope::Device>>> ours_;
  TaskMemory::Hints hints_{};
  ScopedAtomic<std::uint32_t, Scope::System>* cancelled_ = nullptr;
  std::byte* staging_ = nullptr;
  std::mutex copying_;
  std::mutex asking_;
  std::atomic<std::uint64_t> inboxTail_{0};
  std::uint64_t fetched_ = 0;  ///< ticket of the outbox; of the thread that fetches
  std::atomic<bool> running_{false};
  bool over_ = false;  ///< by `beating_`
  std::mutex beating_;
  std::condition_variable ending_;
  std::thread heart_;
};

CudaSide::CudaSide(const Program& program, const EngineOptions& options)
    : options_(options), program_(program) {
  // A kernel that is loaded at its first use waits for the engine's end. Only this process's own first call
  // of CUDA reads the variable; kernels of Tessera are loaded below, whatever it says.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || options.device < 0 || options.device >= count) {
    throw InternalError("there is no GPU " + std::to_string(options.device) +
                        " for the engine: this process sees " + std::to_string(count) +
                        "; use the form Threads, or another number");
  }
  const OnDevice here(options.device);
  cudaDeviceProp properties{};
  checkCuda(cudaGetDeviceProperties(&properties, options.device), "look at the device");
  LoadedKernels::ofProcess().loadAll(options.device);
  grid_ = gridOf(program, options_, properties);
  checkCuda(cudaStreamCreateWithFlags(&kernelStream_, cudaStreamNonBlocking), "make a stream");
  checkCuda(cudaStreamCreateWithFlags(&copyStream_, cudaStreamNonBlocking), "make a stream");
  checkCuda(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "make an event");
  plan(program);
  heart_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(beating_);
    while (!over_) {
      input_.words->heartbeat.fetch_add(1, std::memory_order_relaxed);
      ending_.wait_for(lock, 50ms);
    }
  });
  if (options_.mode != EngineMode::Persistent) return;
  try {
    start(HostWords::Run);
  } catch (...) {
    stopHeart();
    destroyHandles();
    throw;
  }
}

CudaSide::~CudaSide() {
  if (running_) {
    input_.words->command.store(HostWords::Stop, std::memory_order_release);
    awaitEnd();
  }
  stopHeart();
  destroyHandles();
  LateKernels::ofProcess().takeEnded();
}

void CudaSide::stopHeart() {
  if (!heart_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(beating_);
    over_ = true;
  }
  ending_.notify_all();
  heart_.join();
}

void CudaSide::destroyHandles() {
  cudaEventDestroy(copied_);
  cudaStreamDestroy(copyStream_);
  if (kernelStream_ != nullptr) cudaStreamDestroy(kernelStream_);
}

/// Deals out all memory, and fills in what kernel and host share.
void CudaSide::plan(const Program& program) {
  const auto capacity = static_cast<std::size_t>(options_.capacity);
  const auto pages = static_cast<std::size_t>(options_.memoryBytes) / SlabClasses::kPageBytes;
  const auto workers = static_cast<std::size_t>(this->workers());
  const std::size_t queueBytes = 2 * capacity * (sizeof(ReadyQueue::Ring::Word) + sizeof(Task));
  const std::size_t recordBytes = pages * (1 + SlabClasses::kWordsOfPage) * sizeof(std::uint64_t);
  device_ = std::make_unique<CudaPiece>(
      CudaPiece::Place::Device, kWidths * (queueBytes + sizeof(ReadyQueue::Counters)) + sizeof(Control) +
                                    sizeof(Places) + workers * sizeof(WorkerNote) + recordBytes +
                                    (2 * pages + 1) * SlabClasses::kPageBytes + 32 * 256);
  host_ = std::make_unique<CudaPiece>(CudaPiece::Place::Host,
                                      capacity * (3 * sizeof(Inbox::Chunk) * Inbox::kChunks + 16) +
                                          sizeof(HostWords) + kStagingBytes + workers * sizeof(WorkerNote) +
                                          32 * 256);
  EngineState& state = input_.state;
  for (ReadyQueue& queue : state.queues) {
    queue.ring = {device_->deal<ReadyQueue::Ring::Word>(2 * capacity), device_->deal<Task>(2 * capacity),
                  2 * capacity - 1};
    queue.counters = device_->deal<ReadyQueue::Counters>(1);
  }
  state.control = device_->deal<Control>(1);
  input_.places = device_->deal<Places>(1);
  state.notes = device_->deal<WorkerNote>(workers);
  state.memory.states = device_->deal<TaskMemory::Atomic<std::uint64_t>>(pages);
  state.memory.bits = device_->deal<TaskMemory::Atomic<std::uint64_t>>(pages * SlabClasses::kWordsOfPage);
  const auto slab =
      reinterpret_cast<std::uint64_t>(device_->deal<std::byte>((2 * pages + 1) * SlabClasses::kPageBytes));
  const std::uint64_t first =
      (slab + SlabClasses::kPageBytes - 1) / SlabClasses::kPageBytes * SlabClasses::kPageBytes;
  ours_ =
      std::make_unique<SlabRecords<ScopedAtomics<Scope::Device>>>(first, static_cast<std::uint32_t>(pages));
  state.memory.base = first + pages * SlabClasses::kPageBytes;
  state.memory.pages = static_cast<std::uint32_t>(pages);
  clear(state.control, sizeof(Control));
  clear(state.notes, workers * sizeof(WorkerNote));
  clear(state.memory.states, pages * sizeof(std::uint64_t));
  clear(state.memory.bits, pages * SlabClasses::kWordsOfPage * sizeof(std::uint64_t));
  input_.words = new (host_->deal<HostWords>(1)) HostWords;
  // Twice as many places as tasks: the bundle that a place was in before has then been read to its end.
  input_.inbox = {host_->deal<Inbox::Chunk>(2 * capacity * Inbox::kChunks), 2 * capacity - 1};
  input_.read = host_->deal<ScopedAtomic<std::uint64_t, Scope::System>>(2 * capacity / 32);
  state.outbox = {host_->deal<Outbox::Chunk>(capacity * Outbox::kChunks), capacity - 1};
  std::memset(static_cast<void*>(input_.inbox.chunks), 0,
              2 * capacity * Inbox::kChunks * sizeof(Inbox::Chunk));
  std::memset(static_cast<void*>(state.outbox.chunks), 0, capacity * Outbox::kChunks * sizeof(Outbox::Chunk));
  cancelled_ = host_->deal<ScopedAtomic<std::uint32_t, Scope::System>>(capacity);
  staging_ = host_->deal<std::byte>(kStagingBytes);
  for (std::size_t n = 0; n < capacity; ++n) cancelled_[n].store(0, std::memory_order_relaxed);
  for (std::size_t n = 0; n < 2 * capacity / 32; ++n) input_.read[n].store(0, std::memory_order_relaxed);
  state.cancelled = cancelled_;
  state.kinds = static_cast<std::uint32_t>(program.kinds.size());
  for (std::size_t n = 0; n < program.kinds.size(); ++n) {
    state.widths[n] = static_cast<std::uint8_t>(program.kinds[n].width);
  }
  const auto warps = static_cast<std::uint32_t>(options_.blockThreads / 32);
  for (int width = 0; width < kWidths; ++width) {
    input_.blocks[width] = static_cast<std::uint32_t>(grid_.blocks[width]);
    state.workers[width] = std::max(1U, input_.blocks[width] * (width == 2 ? 1U : warps));
  }
  state.workspaceBytes = static_cast<std::uint32_t>(options_.workspaceBytes);
  state.mostSpawned = options_.capacity;
  input_.heartbeatNanos = static_cast<std::uint64_t>(options_.heartbeatSeconds * 1e9);
  input_.multiprocessors = static_cast<std::uint32_t>(grid_.multiprocessors);
  emptyQueues();
}

/// The queues as new: workers that waited when the kernel ended have taken tickets with them.
void CudaSide::emptyQueues() {
  HostQueue<Task, ScopedAtomics<Scope::Device>> image(2 * static_cast<std::size_t>(options_.capacity));
  for (const ReadyQueue& queue : input_.state.queues) {
    upload(queue.ring.words, image.view().ring.words, image.view().ring.capacity());
    upload(queue.counters, image.view().counters, 1);
  }
}

void CudaSide::start(HostWords::Command command) {
  clear(input_.places, sizeof(Places));
  clear(&input_.state.control->stop, sizeof(std::uint32_t));
  input_.words->ending.store(HostWords::None, std::memory_order_relaxed);
  input_.words->begun.store(0, std::memory_order_relaxed);
  input_.words->command.store(command, std::memory_order_release);
  checkCuda(static_cast<cudaError_t>(program_.device->launch(input_, grid_.resident, options_.blockThreads,
                                                             grid_.sharedBytes, kernelStream_)),
            "start the super-kernel");
  running_ = true;
  residentBegins();
  awaitBegin();
}

/// Where all places of the GPU are taken, by another engine say, the kernel would begin some day, or never.
void CudaSide::awaitBegin() {
  const auto begin = std::chrono::steady_clock::now();
  while (input_.words->begun.load(std::memory_order_acquire) == 0 && !ended()) {
    if (std::chrono::steady_clock::now() - begin > kLongestBegin) {
      input_.words->command.store(HostWords::Stop, std::memory_order_release);
      stopHeart();
      running_ = false;
      LateKernels::ofProcess().add(
          {std::exchange(kernelStream_, nullptr), std::move(device_), std::move(host_)});
      throw UsageError(
          "the engine's kernel does not begin: no place on the GPU has become free; end the other engine, or "
          "give each a part by EngineOptions::multiprocessors");
    }
    std::this_thread::yield();
  }
}

/// The kernel has been asked to end.
void CudaSide::awaitEnd() {
  const auto begin = std::chrono::steady_clock::now();
  while (!ended()) {
    if (std::chrono::steady_clock::now() - begin > kLongestEnd) {
      std::cerr << "tessera: error: tasks on the GPU do not end though the engine asks them to; the program "
                   "ends now\n"
                << "  fix  a body that loops for long asks Group::stopAsked\n";
      std::_Exit(6);
    }
    std::this_thread::sleep_for(20us);
  }
  hasEnded();
}

void CudaSide::runQueue(std::uint64_t reports) {
  const OnDevice here(options_.device);
  input_.words->expected.store(reports, std::memory_order_relaxed);
  start(HostWords::Close);
  while (!ended()) std::this_thread::sleep_for(20us);
  hasEnded();
  checkCuda(cudaStreamQuery(kernelStream_), "run its tasks");
  checkAlive();
  input_.inboxBegin = inboxTail_.load();
  emptyQueues();
}

void CudaSide::checkAlive() {
  if (!running_ || !ended()) return;
  if (hostWasSilent()) {
    std::ostringstream text;
    text << "the engine's kernel has ended by itself, since its host gave no sign for "
         << options_.heartbeatSeconds
         << " s: this process was stopped; for longer stops give EngineOptions::heartbeatSeconds more, or 0 "
            "under a debugger";
    throw InternalError(text.str());
  }
  checkCuda(cudaStreamQuery(kernelStream_), "go on: a task stopped the kernel");
}

std::int64_t CudaSide::openTasks() {
  if (!running_) return 0;
  const std::lock_guard<std::mutex> lock(asking_);
  const std::uint32_t question = input_.words->question.load(std::memory_order_relaxed) + 1;
  input_.words->question.store(question, std::memory_order_release);
  for (int looks = 1; input_.words->answered.load(std::memory_order_acquire) != question; ++looks) {
    if (looks % 4096 == 0) checkAlive();
    std::this_thread::yield();
  }
  return input_.words->open.load(std::memory_order_relaxed);
}

void CudaSide::copy(std::byte* to, const std::byte* from, std::int64_t bytes, cudaMemcpyKind way) {
  const std::lock_guard<std::mutex> lock(copying_);
  for (std::int64_t done = 0; done < bytes;) {
    const auto part =
        static_cast<std::size_t>(std::min(bytes - done, static_cast<std::int64_t>(kStagingBytes)));
    if (way == cudaMemcpyHostToDevice) std::memcpy(staging_, from + done, part);
    const void* source = way == cudaMemcpyHostToDevice ? staging_ : from + done;
    void* target = way == cudaMemcpyHostToDevice ? to + done : staging_;
    checkCuda(cudaMemcpyAsync(target, source, part, way, copyStream_), "copy");
    checkCuda(cudaEventRecord(copied_, copyStream_), "copy");
    while (cudaEventQuery(copied_) == cudaErrorNotReady) std::this_thread::yield();
    checkCuda(cudaEventQuery(copied_), "copy");
    if (way == cudaMemcpyDeviceToHost) std::memcpy(to + done, staging_, part);
    done += static_cast<std::int64_t>(part);
  }
}

std::vector<NoteCopy> CudaSide::notes() {
  std::vector<NoteCopy> list(static_cast<std::size_t>(workers()));
  static_assert(sizeof(NoteCopy) == sizeof(WorkerNote));
  copyOut(list.data(), input_.state.notes, std::ssize(list) * std::int64_t{sizeof(NoteCopy)});
  return list;
}

}  // namespace

std::unique_ptr<EngineSide> makeCudaSide(const Program& program, const EngineOptions& options) {
  return std::make_unique<CudaSide>(program, options);
}

}  // namespace tessera::engine

#else

namespace tessera::engine {

std::unique_ptr<EngineSide> makeCudaSide(const Program&, const EngineOptions&) {
  throw UsageError(
      "this build of Tessera has no CUDA, so an engine cannot be on a GPU; build the preset cuda, or use the "
      "form "
      "Threads");
}

}  // namespace tessera::engine
#endif
