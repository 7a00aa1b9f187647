#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/relay.hpp"
#include "scheduler/engine/kinds/spin.hpp"
#include "scheduler/engine/make_program.hpp"
#include "tools/bench/engine/allocation.hpp"
#include "tools/bench/engine/bench_program.hpp"
#include "tools/bench/engine/spin_chain.hpp"

#if defined(__CUDACC__)
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>
#endif

namespace tessera::engine {

const Program& benchProgram() {
  using enum TaskWidth;
  static const Program program =
      makeProgram<Adder<Lane>, Adder<Warp>, Spin, SpinChain, Relay<Lane>, Relay<Warp>, AllocationLoop>(
          "bench");
  return program;
}

#if defined(__CUDACC__)
namespace {

__global__ void addOne(std::int64_t a, std::int64_t b, std::int64_t* sum) { *sum = a + b; }
__global__ void addMany(const std::int64_t* a, std::int64_t* sum, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[2 * i] + a[2 * i + 1];
}

using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& body) {
  const auto begin = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double medianOf(int count, const std::function<void()>& body) {
  std::vector<double> times;
  for (int n = 0; n < count; ++n) times.push_back(seconds(body));
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[static_cast<std::size_t>(count) / 2];
}

struct Rig {
  std::vector<cudaStream_t> streams;
  std::int64_t* memory = nullptr;
  explicit Rig(int count, std::int64_t words = 4096) : streams(static_cast<std::size_t>(count)) {
    for (auto& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&memory, static_cast<std::size_t>(words) * sizeof(std::int64_t));
  }
  ~Rig() {
    cudaDeviceSynchronize();
    for (auto& stream : streams) cudaStreamDestroy(stream);
    cudaFree(memory);
  }
};

}  // namespace

bool Launches::available() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

std::int64_t Launches::freeMiB() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<std::int64_t>(free >> 20) : -1;
}

double Launches::kernels(std::int64_t count, int streams) {
  Rig rig(streams);
  const auto all = [&] {
    for (std::int64_t n = 0; n < count; ++n) {
      addOne<<<1, 1, 0, rig.streams[static_cast<std::size_t>(n % streams)]>>>(n, n, rig.memory + n % 4096);
    }
    cudaDeviceSynchronize();
  };
  all();
  return seconds(all);
}

double Launches::graphs(std::int64_t count, int nodes) {
  Rig rig(1);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphCreate(&graph, 0);
  std::int64_t a = 1, b = 2;
  for (int n = 0; n < nodes; ++n) {
    std::int64_t* sum = rig.memory + n % 4096;
    void* arguments[] = {&a, &b, &sum};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(addOne);
    parameters.gridDim = parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    cudaGraphNode_t node;
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
  }
  cudaGraphInstantiate(&executable, graph, 0);
  const auto all = [&] {
    for (std::int64_t n = 0; n < count; n += nodes) cudaGraphLaunch(executable, rig.streams[0]);
    cudaDeviceSynchronize();
  };
  all();
  const double time = seconds(all);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return time;
}

double Launches::batched(std::int64_t count) {
  Rig rig(1, 3 * count);
  cudaMemset(rig.memory, 1, static_cast<std::size_t>(2 * count) * 8);
  const auto all = [&] {
    addMany<<<static_cast<unsigned>((count + 255) / 256), 256, 0, rig.streams[0]>>>(
        rig.memory, rig.memory + 2 * count, count);
    cudaDeviceSynchronize();
  };
  all();
  return seconds(all);
}

double Launches::roundTripByEvent() {
  Rig rig(1);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  const double time = medianOf(5000, [&] {
    addOne<<<1, 1, 0, rig.streams[0]>>>(1, 2, rig.memory);
    cudaEventRecord(event, rig.streams[0]);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
  });
  cudaEventDestroy(event);
  return time;
}

double Launches::roundTripByStream() {
  Rig rig(1);
  return medianOf(5000, [&] {
    addOne<<<1, 1, 0, rig.streams[0]>>>(1, 2, rig.memory);
    cudaStreamSynchronize(rig.streams[0]);
  });
}

double Launches::cudaMallocAndFree(std::int64_t bytes) {
  Rig rig(1);
  return seconds([&] {
           for (int n = 0; n < 1000; ++n) {
             void* block = nullptr;
             cudaMalloc(&block, static_cast<std::size_t>(bytes));
             cudaFree(block);
           }
         }) /
         1000;
}
#else
bool Launches::available() { return false; }
std::int64_t Launches::freeMiB() { return -1; }
double Launches::kernels(std::int64_t, int) { return 0.0; }
double Launches::graphs(std::int64_t, int) { return 0.0; }
double Launches::batched(std::int64_t) { return 0.0; }
double Launches::roundTripByEvent() { return 0.0; }
double Launches::roundTripByStream() { return 0.0; }
double Launches::cudaMallocAndFree(std::int64_t) { return 0.0; }
#endif

}  // namespace tessera::engine
