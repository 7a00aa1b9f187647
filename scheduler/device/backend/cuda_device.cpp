#include "scheduler/device/backend/cuda_device.hpp"

#if defined(TESSERA_HAVE_CUDA)

#include <algorithm>
#include <array>
#include <cstdio>
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/resident_kernels.hpp"
#include "core/text/contracts.hpp"
#include "scheduler/device/backend/cuda_addresses.hpp"

namespace tessera {

namespace {

DeviceFault faultOf(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
      return DeviceFault::NoDevice;
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return DeviceFault::DriverTooOld;
    case cudaErrorMemoryAllocation:
      return DeviceFault::OutOfMemory;
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorContained:
    case cudaErrorSystemNotReady:
      return DeviceFault::Lost;
    default:
      return DeviceFault::Failed;
  }
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// How many GPUs there are; why there is none goes into `reason`.
std::int32_t countDevices(std::string& reason) {
  int driver = 0;
  int runtime = 0;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  static_cast<void>(cudaGetLastError());
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) {
    reason = "this machine has no driver for NVIDIA GPUs";
  } else if (status == cudaErrorInsufficientDriver) {
    throw deviceError({DeviceFault::DriverTooOld,
                       "CUDA",
                       "the GPU's driver knows CUDA " + versionText(driver) +
                           ", but this program was built with CUDA " + versionText(runtime),
                       "cudaGetDeviceCount",
                       {}});
  } else {
    reason = status == cudaSuccess ? "no GPU is visible to this process" : cudaGetErrorString(status);
  }
  return 0;
}

struct Stream {
  cudaStream_t handle = nullptr;
  const char* launched = nullptr;  ///< the name of its last launch
};

class CudaDevice final : public DeviceBackend {
 public:
  explicit CudaDevice(std::int32_t number);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  void bindThread() override { check(cudaSetDevice(info_.number), "cudaSetDevice"); }

  DeviceStream makeStream() override { return addStream(0); }
  DeviceStream makeUrgentStream() override;
  // Without a time stamp, which would cost the device some work at each record.
  DeviceEvent makeEvent() override { return addEvent(cudaEventDisableTiming); }
  DeviceEvent makeTimedEvent() override { return addEvent(cudaEventDefault); }
  void record(DeviceEvent event, DeviceStream stream) override {
    check(cudaEventRecord(at(event), at(stream).handle), "cudaEventRecord", stream);
  }
  bool isDone(DeviceEvent event) override;
  double secondsBetween(DeviceEvent first, DeviceEvent then) override;
  void wait(DeviceStream stream, DeviceEvent event) override {
    check(cudaStreamWaitEvent(at(stream).handle, at(event), 0), "cudaStreamWaitEvent", stream);
  }
  void waitForPeer(DeviceStream stream, DeviceBackend& peer, DeviceEvent event) override {
    check(cudaStreamWaitEvent(at(stream).handle, asCuda(peer).seenByPeers(event), 0), "cudaStreamWaitEvent",
          stream);
  }
  void synchronize(DeviceStream stream) override {
    check(cudaStreamSynchronize(at(stream).handle), "cudaStreamSynchronize", stream);
  }
  void copy(DeviceStream stream, CopyDirection direction, void* to, const void* from,
            std::int64_t bytes) override;
  void fill(DeviceStream stream, void* memory, std::uint8_t byte, std::int64_t bytes) override {
    check(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), at(stream).handle),
          "cudaMemsetAsync", stream);
  }
  void launch(DeviceStream stream, const DeviceLaunch& work) override;
  void beginCapture(DeviceStream stream) override;
  DeviceGraph endCapture() override;
  void launchGraph(DeviceStream stream, DeviceGraph graph, const char* name) override;
  void releaseGraph(DeviceGraph graph) noexcept override;
  void* allocate(DeviceSpace space, std::int64_t bytes) override;
  void release(DeviceSpace space, void* memory) noexcept override;
  std::unique_ptr<DeviceAddresses> makeAddresses(std::int64_t bytes, std::int64_t pieceBytes) override {
    return detail::makeCudaAddresses(info_, bytes, pieceBytes);
  }
  void pin(void* memory, std::int64_t bytes) override;
  void unpin(void* memory) noexcept override;
  std::int64_t pinnedBytes() const override { return pinnedBytes_; }
  bool enablePeer(DeviceBackend& peer) override;

 private:
  DeviceStream addStream(int priority);
  DeviceEvent addEvent(unsigned flags);
  Stream& at(DeviceStream stream) { return streams_[static_cast<std::size_t>(stream.number)]; }
  cudaEvent_t at(DeviceEvent event) const { return events_[static_cast<std::size_t>(event.number)]; }
  /// For a thread that calls another device, while this one may be called too.
  cudaEvent_t seenByPeers(DeviceEvent event) {
    const std::lock_guard lock(eventsMutex_);
    return at(event);
  }
  static CudaDevice& asCuda(DeviceBackend& peer);
  void check(cudaError_t status, const char* call, DeviceStream stream = {}) const {
    if (status != cudaSuccess) fail(status, call, stream);
  }
  [[noreturn]] void fail(cudaError_t status, const char* call, DeviceStream stream) const;
  std::string launchedText(DeviceStream stream) const;
  void* allocateManaged(std::int64_t bytes);

  DeviceInfo info_;
  std::vector<Stream> streams_;
  std::mutex eventsMutex_;  ///< held by who adds events, and by peers that look; others are of one thread
  std::vector<cudaEvent_t> events_;
  std::vector<cudaGraphExec_t> graphs_;  ///< null: released
  DeviceStream capturing_;               ///< what the capture under way began with
  std::map<void*, std::int64_t> pinned_;
  std::int64_t pinnedBytes_ = 0;
};

CudaDevice::CudaDevice(std::int32_t number) {
  std::string reason;
  const std::int32_t count = countDevices(reason);
  if (number < 0 || number >= count) {
    if (count > 0) reason = "this process sees only " + std::to_string(count) + " GPUs, counted from 0";
    throw deviceError({DeviceFault::NoDevice, "device " + std::to_string(number), reason, {}, {}});
  }
  info_.number = number;
  info_.name = "GPU";
  check(cudaSetDevice(number), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  std::array<char, 32> pci{};
  std::snprintf(pci.data(), pci.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  info_.name = properties.name;
  info_.pciAddress = pci.data();
  info_.architecture = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info_.processors = properties.multiProcessorCount;
  info_.memoryBytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  check(cudaDriverGetVersion(&info_.driverVersion), "cudaDriverGetVersion");
}

CudaDevice::~CudaDevice() {
  // A device that has failed answers every call with its error: nothing is left to be done about it here.
  static_cast<void>(cudaSetDevice(info_.number));
  for (const Stream& stream : streams_) {
    static_cast<void>(cudaStreamSynchronize(stream.handle));
    static_cast<void>(cudaStreamDestroy(stream.handle));
  }
  for (const cudaGraphExec_t graph : graphs_) {
    if (graph != nullptr) static_cast<void>(cudaGraphExecDestroy(graph));
  }
  for (const cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
}

CudaDevice& CudaDevice::asCuda(DeviceBackend& peer) {
  auto* cuda = dynamic_cast<CudaDevice*>(&peer);
  TESSERA_EXPECT(cuda != nullptr, "give a peer of the same kind: a GPU copies to GPUs only");
  return *cuda;
}

std::string CudaDevice::launchedText(DeviceStream stream) const {
  std::string text;
  const auto add = [&](std::size_t n) {
    if (streams_[n].launched == nullptr) return;
    if (!text.empty()) text += ", ";
    text += std::string(streams_[n].launched) + " on stream " + std::to_string(n);
  };
  // The stream of the call first; but an error is the whole device's, and may come from any of them.
  if (stream.number >= 0) add(static_cast<std::size_t>(stream.number));
  for (std::size_t n = 0; n < streams_.size(); ++n) {
    if (static_cast<std::int32_t>(n) != stream.number && cudaStreamQuery(streams_[n].handle) != cudaSuccess) {
      add(n);
    }
  }
  return text;
}

void CudaDevice::fail(cudaError_t status, const char* call, DeviceStream stream) const {
  const std::string reason = std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  DeviceError error = deviceError({faultOf(status), asText(info_), reason, call, launchedText(stream)});
  // Errors that leave the device well, as out of memory does, must not come back from the next call.
  static_cast<void>(cudaGetLastError());
  throw error;
}

DeviceStream CudaDevice::makeUrgentStream() {
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  return addStream(greatest);
}

DeviceStream CudaDevice::addStream(int priority) {
  Stream stream;
  // Not the kind that waits for the default stream, which libraries use behind our back.
  check(cudaStreamCreateWithPriority(&stream.handle, cudaStreamNonBlocking, priority),
        "cudaStreamCreateWithPriority");
  streams_.push_back(stream);
  return {static_cast<std::int32_t>(streams_.size()) - 1};
}

DeviceEvent CudaDevice::addEvent(unsigned flags) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreate");
  const std::lock_guard lock(eventsMutex_);
  events_.push_back(event);
  return {static_cast<std::int32_t>(events_.size()) - 1};
}

bool CudaDevice::isDone(DeviceEvent event) {
  const cudaError_t status = cudaEventQuery(at(event));
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(status, "cudaEventQuery");
  return true;
}

double CudaDevice::secondsBetween(DeviceEvent first, DeviceEvent then) {
  float milliseconds = 0.0F;
  const cudaError_t status = cudaEventElapsedTime(&milliseconds, at(first), at(then));
  if (status == cudaErrorNotReady) static_cast<void>(cudaGetLastError());
  TESSERA_EXPECT(status != cudaErrorNotReady, "ask for a time when both events are done");
  check(status, "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

void CudaDevice::copy(DeviceStream stream, CopyDirection direction, void* to, const void* from,
                      std::int64_t bytes) {
  const cudaMemcpyKind kind = direction == CopyDirection::HostToDevice   ? cudaMemcpyHostToDevice
                              : direction == CopyDirection::DeviceToHost ? cudaMemcpyDeviceToHost
                                                                         : cudaMemcpyDeviceToDevice;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, at(stream).handle),
        "cudaMemcpyAsync", stream);
}

bool CudaDevice::enablePeer(DeviceBackend& peer) {
  const std::int32_t number = asCuda(peer).info_.number;
  if (number == info_.number) return true;
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, info_.number, number), "cudaDeviceCanAccessPeer");
  if (possible == 0) return false;
  const cudaError_t status = cudaDeviceEnablePeerAccess(number, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  check(status, "cudaDeviceEnablePeerAccess");
  return true;
}

void CudaDevice::launch(DeviceStream stream, const DeviceLaunch& work) {
  Stream& entry = at(stream);
  entry.launched = work.name;
  work.run(work.arguments.data(), entry.handle);
  check(cudaPeekAtLastError(), "the launch of a kernel", stream);
}

/// With the hints that the driver takes: it is the device's, and is brought there as far as there is room.
void* CudaDevice::allocateManaged(std::int64_t bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  check(cudaMallocManaged(&memory, size, cudaMemAttachGlobal), "cudaMallocManaged");
#if CUDART_VERSION >= 13000
  const cudaMemLocation here{cudaMemLocationTypeDevice, info_.number};
  check(cudaMemAdvise(memory, size, cudaMemAdviseSetPreferredLocation, here), "cudaMemAdvise");
  check(cudaMemPrefetchAsync(memory, size, here, 0, nullptr), "cudaMemPrefetchAsync");
#else
  check(cudaMemAdvise(memory, size, cudaMemAdviseSetPreferredLocation, info_.number), "cudaMemAdvise");
  check(cudaMemPrefetchAsync(memory, size, info_.number, nullptr), "cudaMemPrefetchAsync");
#endif
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  return memory;
}

void CudaDevice::beginCapture(DeviceStream stream) {
  TESSERA_EXPECT(capturing_.number < 0, "end a capture before the next one begins");
  // Relaxed: this thread may ask for events of other streams meanwhile, and others may allocate.
  check(cudaStreamBeginCapture(at(stream).handle, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture",
        stream);
  capturing_ = stream;
}

DeviceGraph CudaDevice::endCapture() {
  TESSERA_EXPECT(capturing_.number >= 0, "begin a capture before it ends");
  const DeviceStream stream = std::exchange(capturing_, DeviceStream{});
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(at(stream).handle, &captured), "cudaStreamEndCapture", stream);
  cudaGraphExec_t graph = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&graph, captured, 0);
  static_cast<void>(cudaGraphDestroy(captured));
  check(made, "cudaGraphInstantiate", stream);
  graphs_.push_back(graph);
  check(cudaGraphUpload(graph, at(stream).handle), "cudaGraphUpload", stream);
  // Launches into other streams come after earlier launches of the graph, and not after its upload.
  check(cudaStreamSynchronize(at(stream).handle), "cudaStreamSynchronize", stream);
  return {static_cast<std::int32_t>(graphs_.size()) - 1};
}

void CudaDevice::launchGraph(DeviceStream stream, DeviceGraph graph, const char* name) {
  at(stream).launched = name;
  check(cudaGraphLaunch(graphs_[static_cast<std::size_t>(graph.number)], at(stream).handle),
        "cudaGraphLaunch", stream);
}

void CudaDevice::releaseGraph(DeviceGraph graph) noexcept {
  cudaGraphExec_t& entry = graphs_[static_cast<std::size_t>(graph.number)];
  static_cast<void>(cudaGraphExecDestroy(entry));
  entry = nullptr;
}

void* CudaDevice::allocate(DeviceSpace space, std::int64_t bytes) {
  if (space == DeviceSpace::Managed) return allocateManaged(bytes);
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  const bool onDevice = space == DeviceSpace::Device;
  const cudaError_t status =
      onDevice ? cudaMalloc(&memory, size) : cudaHostAlloc(&memory, size, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation && onDevice) {
    static_cast<void>(cudaGetLastError());
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    throw outOfDeviceMemory(asText(info_), "an allocation", bytes, static_cast<std::int64_t>(total - free),
                            static_cast<std::int64_t>(total));
  }
  check(status, onDevice ? "cudaMalloc" : "cudaHostAlloc");
  return memory;
}

void CudaDevice::release(DeviceSpace space, void* memory) noexcept {
  // Beside a task engine the calls that free memory would wait for its end.
  whenNoneIsResident([space, memory] {
    static_cast<void>(space == DeviceSpace::PinnedHost ? cudaFreeHost(memory) : cudaFree(memory));
  });
}

void CudaDevice::pin(void* memory, std::int64_t bytes) {
  check(cudaHostRegister(memory, static_cast<std::size_t>(bytes),
                         cudaHostRegisterPortable | cudaHostRegisterMapped),
        "cudaHostRegister");
  void* seen = nullptr;
  check(cudaHostGetDevicePointer(&seen, memory, 0), "cudaHostGetDevicePointer");
  if (seen != memory) {
    static_cast<void>(cudaHostUnregister(memory));
    throw deviceError({DeviceFault::Failed,
                       asText(info_),
                       "the GPU sees host memory under another address",
                       "cudaHostGetDevicePointer",
                       {}});
  }
  pinned_[memory] = bytes;
  pinnedBytes_ += bytes;
}

void CudaDevice::unpin(void* memory) noexcept {
  const auto found = pinned_.find(memory);
  if (found == pinned_.end()) return;
  whenNoneIsResident([memory] { static_cast<void>(cudaHostUnregister(memory)); });
  pinnedBytes_ -= found->second;
  pinned_.erase(found);
}

}  // namespace

bool builtWithCuda() { return true; }

std::int32_t cudaDeviceCount() {
  std::string reason;
  return countDevices(reason);
}

std::string cudaPciAddress(std::int32_t number) {
  std::array<char, 32> address{};
  const cudaError_t status = cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), number);
  return status == cudaSuccess ? std::string(address.data()) : std::string();
}

std::unique_ptr<DeviceBackend> makeCudaDevice(std::int32_t number) {
  return std::make_unique<CudaDevice>(number);
}

}  // namespace tessera

#else

#include <string>

namespace tessera {

bool builtWithCuda() { return false; }

std::int32_t cudaDeviceCount() { return 0; }

std::string cudaPciAddress(std::int32_t /*number*/) { return ""; }

std::unique_ptr<DeviceBackend> makeCudaDevice(std::int32_t number) {
  throw deviceError({DeviceFault::NoDevice,
                     "device " + std::to_string(number),
                     "this program was built without CUDA; build the preset cuda on a machine with nvcc",
                     {},
                     {}});
}

}  // namespace tessera

#endif
