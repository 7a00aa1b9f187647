#include "core/resident_kernels.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/text/error.hpp"

namespace tessera {
namespace {

/// One for the process, because the calls that it is about wait for kernels of the whole process.
struct Residents {
  std::mutex mutex;
  std::int32_t count = 0;
  std::vector<std::function<void()>> later;
};

Residents& residents() {
  static Residents all;
  return all;
}

}  // namespace

std::int32_t residentKernels() {
  const std::lock_guard<std::mutex> lock(residents().mutex);
  return residents().count;
}

std::string_view insteadOf(WaitingCall call) {
  switch (call) {
    case WaitingCall::FreeDeviceMemory:
      return "free memory by cudaFreeAsync, or after the engine";
    case WaitingCall::FreePinnedMemory:
      return "keep pinned memory until the engine has ended";
    case WaitingCall::UnregisterMemory:
      return "keep memory registered until the engine has ended";
    case WaitingCall::FirstUseOfKernel:
      return "launch each kernel once before the engine, or set CUDA_MODULE_LOADING=EAGER";
    case WaitingCall::KernelThatPrints:
      return "launch a kernel that prints or calls malloc once before the engine";
    case WaitingCall::GrowStack:
      return "set the stack limit before the engine";
    case WaitingCall::SynchronizeDevice:
      return "wait for your own streams and events";
  }
  return "";
}

void refuseBesideResident(WaitingCall call) {
  if (residentKernels() == 0) return;
  throw UsageError("this call would wait for the end of the task engine that stays on the GPU; " +
                   std::string(insteadOf(call)));
}

void residentBegins() {
  const std::lock_guard<std::mutex> lock(residents().mutex);
  ++residents().count;
}

void residentEnds() {
  const std::lock_guard<std::mutex> lock(residents().mutex);
  if (--residents().count > 0) return;
  for (const auto& giveBack : residents().later) giveBack();
  residents().later.clear();
}

void whenNoneIsResident(std::function<void()> giveBack) {
  const std::lock_guard<std::mutex> lock(residents().mutex);
  if (residents().count > 0) {
    residents().later.push_back(std::move(giveBack));
  } else {
    giveBack();
  }
}

}  // namespace tessera
