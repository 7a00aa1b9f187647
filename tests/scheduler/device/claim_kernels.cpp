#include "tests/scheduler/device/claim_kernels.hpp"

#include <atomic>
#include <chrono>

namespace tessera::test {

namespace {

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

void putStencil(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilPatch>& table,
                std::span<const std::int32_t> tasks, PatchPart part, PatchOrder order) {
  launchPatches(device, stream, "Test::stencil", table, tasks, SevenPoint{}, part, order);
}

void putDigest(DeviceBackend& device, DeviceStream stream, const PatchTable<DigestPatch>& table,
               std::span<const std::int32_t> tasks, PatchPart part) {
  launchPatches(device, stream, "Test::digest", table, tasks, Digest{}, part);
}

}  // namespace tessera::test
