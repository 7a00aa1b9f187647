#include "tools/bench/device/bench_kernels.hpp"

namespace tessera::bench {

namespace {

struct SevenPoint {
  double c = 0.1;
  template <class Patch>
  TESSERA_KERNEL void operator()(const Patch& patch, Index x) const {
    at(patch.from, patch.to, c, x);
  }
  TESSERA_KERNEL void operator()(const StencilClosure& patch, Index x) const {
    at(patch.from, patch.to, c * patch.numbers[3], x);
  }

 private:
  template <class From>
  TESSERA_KERNEL static void at(const From& u, const Field<double>& to, double c, Index x) {
    const double sum = (u(x - ex) + u(x + ex)) + (u(x - ey) + u(x + ey)) + (u(x - ez) + u(x + ez));
    to(x) = u(x) + c * (sum - 6.0 * u(x));
  }
};

struct Scale {
  double factor = 1.0 - 1.0 / 1024.0;
  TESSERA_KERNEL void operator()(const ScalePatch& patch, Index x) const { patch.values(x) *= factor; }
};

struct Fill {
  TESSERA_KERNEL void operator()(double* to, Index x) const {
    auto hash = static_cast<std::uint64_t>(x.i + 1) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
    to[x.i] = static_cast<double>((hash * 0xBF58476D1CE4E5B9ULL) >> 11) * 0x1p-53 - 0.5;
  }
};

/// The column above one cell of a tile, with the planes below and above kept in registers.
__global__ void __launch_bounds__(256) stencilByHand(const double* __restrict__ from, double* __restrict__ to,
                                                     int n, int row, int depth, double c) {
  const int i = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  const int j = static_cast<int>(blockIdx.y * 8 + threadIdx.y);
  if (i >= n || j >= n) return;
  const std::int64_t plane = static_cast<std::int64_t>(row) * (n + 2);
  const int begin = static_cast<int>(blockIdx.z) * depth;
  const int end = min(begin + depth, n);
  std::int64_t at = i + static_cast<std::int64_t>(j + 1) * row + (begin + 1) * plane;
  double below = from[at - plane];
  double here = from[at];
#pragma unroll 4
  for (int k = begin; k < end; ++k, at += plane) {
    const double above = from[at + plane];
    const double sum = (from[at - 1] + from[at + 1]) + (from[at - row] + from[at + row]) + (below + above);
    to[at] = here + c * (sum - 6.0 * here);
    below = here;
    here = above;
  }
}

__global__ void copyPairs(const double2* __restrict__ from, double2* __restrict__ to, std::int64_t count) {
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < count) to[n] = from[n];
}

__global__ void doNothing() {}

struct ByHand {
  const double* from;
  double* to;
  std::int64_t n;
  std::int64_t row;
};

template <class Arguments, class Run>
void put(DeviceBackend& device, DeviceStream stream, const char* name, const Arguments& arguments, Run run) {
  device.launch(stream, {name, run, std::as_bytes(std::span(&arguments, 1))});
}

}  // namespace

void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilPatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order) {
  launchPatches(device, stream, "Bench::stencil", table, tasks, SevenPoint{}, {}, order);
}

void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<OrderedPatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order) {
  launchPatches(device, stream, "Bench::ordered", table, tasks, SevenPoint{}, {}, order);
}

void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilClosure>& table,
               std::span<const std::int32_t> tasks, PatchOrder order) {
  launchPatches(device, stream, "Bench::closure", table, tasks, SevenPoint{}, {}, order);
}

void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<ScalePatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order) {
  launchPatches(device, stream, "Bench::scale", table, tasks, Scale{}, {}, order);
}

void putStencilByHand(DeviceBackend& device, DeviceStream stream, const double* from, double* to,
                      std::int64_t n, std::int64_t row) {
  put(device, stream, "Bench::byHand", ByHand{from, to, n, row}, [](const void* arguments, void* cudaStream) {
    const auto& a = *static_cast<const ByHand*>(arguments);
    const auto side = static_cast<unsigned>(a.n);
    const int depth = 8;  // the best of 1, 2, 4, ... 64 on an H200
    const dim3 blocks((side + 31) / 32, (side + 7) / 8, (side + depth - 1) / depth);
    stencilByHand<<<blocks, dim3(32, 8), 0, static_cast<cudaStream_t>(cudaStream)>>>(
        a.from, a.to, static_cast<int>(a.n), static_cast<int>(a.row), depth, 0.1);
  });
}

void putCopy(DeviceBackend& device, DeviceStream stream, const double* from, double* to, std::int64_t count) {
  put(device, stream, "Bench::copy", ByHand{from, to, count / 2, 0},
      [](const void* arguments, void* cudaStream) {
        const auto& a = *static_cast<const ByHand*>(arguments);
        copyPairs<<<static_cast<unsigned>((a.n + 255) / 256), 256, 0,
                    static_cast<cudaStream_t>(cudaStream)>>>(reinterpret_cast<const double2*>(a.from),
                                                             reinterpret_cast<double2*>(a.to), a.n);
      });
}

void putNothing(DeviceBackend& device, DeviceStream stream) {
  put(device, stream, "Bench::nothing", 0, [](const void*, void* cudaStream) {
    doNothing<<<1, 256, 0, static_cast<cudaStream_t>(cudaStream)>>>();
  });
}

void putValues(DeviceBackend& device, DeviceStream stream, double* to, std::int64_t count) {
  launchBox(device, stream, "Bench::values", {{0, 0, 0}, {count, 1, 1}}, to, Fill{});
}

}  // namespace tessera::bench
