// Other kernels of a process while an engine is resident on its GPU: those that print and allocate, known
// before, and the first use of another one.
#if defined(__CUDACC__)
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/known_kernels.hpp"
#include "core/resident_kernels.hpp"
#include "core/text/error.hpp"
#include "tests/scheduler/engine/engine_rig.hpp"

namespace tessera::engine::testing {

__global__ void besidePrints(int n) {
  if (n < 0) printf("%d", n);
}
__global__ void besideAllocates(int* found) {
  void* block = malloc(64);
  *found = block != nullptr ? 1 : 0;
  free(block);
}
__global__ void besideFirstUse(int* found) { *found = 2; }
/// Needs more stack than any other kernel, and nothing launches it before the engine.
__global__ void besideDeep(int* found, int n) {
  volatile int stack[5000];
  for (int i = 0; i < 5000; ++i) stack[i * 977 % 5000] = i + n;
  *found = stack[977];
}

namespace {

/// Whether all work in the stream ends within 5 s.
bool besideEnds(cudaStream_t stream) {
  const auto begin = std::chrono::steady_clock::now();
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(5)) return false;
  }
  return cudaStreamQuery(stream) == cudaSuccess;
}

TEST(EngineCudaBeside, KernelsThatAreKnownNeverWaitForTheEngine) {
  if (std::getenv("TESSERA_ENGINE_TEST_CUDA") == nullptr) return;
  cudaStream_t stream;
  int* found = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&found, sizeof(int), 0), cudaSuccess);
  *found = 0;
  {
    Engine engine(shippedProgram(),
                  {.form = EngineForm::Cuda, .capacity = 64, .memoryBytes = 1 << 22, .multiprocessors = 4});
    keepKnown<&besideDeep>();
    besideDeep<<<1, 1, 0, stream>>>(found, 41);
    ASSERT_TRUE(besideEnds(stream)) << "the first launch of a kernel that needs 20,000 bytes of stack";
    EXPECT_EQ(*found, 42);
    EXPECT_EQ(engine.wait(engine.submit<WarpAdder>({1, 2})).result.sum, 3);
  }
  EXPECT_EQ(cudaFreeHost(found), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(EngineCudaBeside, KernelsThatPrintAllocateOrAreNewRunBesideTheEngine) {
  if (std::getenv("TESSERA_ENGINE_TEST_CUDA") == nullptr) return;
  keepKnown<&besideFirstUse>();
  cudaStream_t stream;
  int* found = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&found, sizeof(int), 0), cudaSuccess);
  besidePrints<<<1, 1, 0, stream>>>(1);
  besideAllocates<<<1, 1, 0, stream>>>(found);
  ASSERT_TRUE(besideEnds(stream));
  {
    Engine engine(shippedProgram(),
                  {.form = EngineForm::Cuda, .capacity = 64, .memoryBytes = 1 << 22, .multiprocessors = 4});
    EXPECT_EQ(residentKernels(), 1);
    EXPECT_THROW(refuseBesideResident(WaitingCall::KernelThatPrints), UsageError);
    for (int n = 0; n < 20; ++n) {
      const auto ticket = engine.submit<WarpAdder>({n, n});
      *found = 0;
      besidePrints<<<1, 1, 0, stream>>>(1);
      besideAllocates<<<1, 1, 0, stream>>>(found);
      ASSERT_TRUE(besideEnds(stream)) << "kernels that print and allocate";
      EXPECT_EQ(*found, 1);
      besideFirstUse<<<1, 1, 0, stream>>>(found);
      ASSERT_TRUE(besideEnds(stream)) << "the first use of a kernel that is known";
      EXPECT_EQ(*found, 2);
      EXPECT_EQ(engine.wait(ticket).result.sum, 2 * n);
    }
    // Memory that is given back now is freed when the engine has ended.
    void* block = nullptr;
    ASSERT_EQ(cudaMalloc(&block, 1 << 20), cudaSuccess);
    whenNoneIsResident([block] { EXPECT_EQ(cudaFree(block), cudaSuccess); });
  }
  EXPECT_EQ(residentKernels(), 0);
  EXPECT_EQ(cudaFreeHost(found), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace tessera::engine::testing
#endif
