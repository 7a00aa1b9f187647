#include "tests/scheduler/device/claim_kernels.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "tests/scheduler/device/launch_box.hpp"

namespace tessera::test {

namespace {

/// A kernel that is loaded at its first use waits until the device is idle, which it is not while a test
/// holds it. Read by the first call of CUDA in a process.
[[maybe_unused]] const int loadsAllKernelsAtOnce = setenv("CUDA_MODULE_LOADING", "EAGER", 0);

Box line(std::int64_t count) { return {{0, 0, 0}, {count, 1, 1}}; }

struct Affine {
  double factor;
  double shift;
  TESSERA_KERNEL void operator()(double* data, Index x) const {
    // Times 0 is a plain write, also to memory that holds nothing yet.
    data[x.i] = factor == 0.0 ? shift : factor * data[x.i] + shift;
  }
};

[[maybe_unused]] void spinOnHost(int* flag) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::atomic_ref<int>(*flag).load() == 0 && std::chrono::steady_clock::now() < end) {
  }
}

struct Spin {
  TESSERA_KERNEL void operator()(int* flag, Index) const {
#if defined(__CUDA_ARCH__)
    const long long begin = clock64();
    while (*static_cast<volatile int*>(flag) == 0 && clock64() - begin < 10'000'000'000LL) {
    }
#else
    spinOnHost(flag);
#endif
  }
};

/// Tasks whose digits are computed together.
struct DigestTasks {
  static constexpr std::size_t kMost = 512;
  const DigestPatch* patches;
  std::int32_t numbers[kMost];  // NOLINT: a std::array's operator[] is no device function
};

/// Digit x.i of the task at position x.j.
struct DigestOfTask {
  TESSERA_KERNEL void operator()(const DigestTasks& tasks, Index x) const {
    Digest{}(tasks.patches[tasks.numbers[x.j]], {x.i, 0, 0});
  }
};

struct WriteNowhere {
  TESSERA_KERNEL void operator()(double* data, Index) const { *data = 1.0; }
};

}  // namespace

void putAffine(DeviceBackend& device, DeviceStream stream, double* data, std::int64_t count, double factor,
               double shift) {
  launchBox(device, stream, "Test::affine", line(count), data, Affine{factor, shift});
}

void putSpin(DeviceBackend& device, DeviceStream stream, int* flag) {
  launchBox(device, stream, "Test::spin", line(1), flag, Spin{});
}

void putWriteNowhere(DeviceBackend& device, DeviceStream stream) {
  launchBox(device, stream, "Test::writeNowhere", line(1), reinterpret_cast<double*>(std::uintptr_t{64}),
            WriteNowhere{});
}

void putDigest(DeviceBackend& device, DeviceStream stream, const DigestPatch* patches,
               std::span<const std::int32_t> tasks, PatchPart part) {
  const Box digits = partOf({{0, 0, 0}, {kDigits, 1, 1}}, part);
  for (; !tasks.empty(); tasks = tasks.subspan(std::min(tasks.size(), DigestTasks::kMost))) {
    const std::size_t count = std::min(tasks.size(), DigestTasks::kMost);
    DigestTasks launched{patches, {}};
    std::copy_n(tasks.begin(), count, launched.numbers);
    launchBox(device, stream, "Test::digest", {digits.lo, {digits.hi.i, static_cast<std::int64_t>(count), 1}},
              launched, DigestOfTask{});
  }
}

}  // namespace tessera::test
