#if defined(TESSERA_HAVE_CUDA)

#include <cstdio>
#include <cstdlib>

#include <gmock/gmock.h>

#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

/// A kernel that writes nowhere ends the context of its process: such a case is a process of its own.
void writeNowhere() {
  const auto device = makeCudaDevice(0);
  const DeviceStream quiet = device->makeStream();
  const DeviceStream stream = device->makeStream();
  const DeviceEvent event = device->makeEvent();
  test::putWriteNowhere(*device, stream);
  try {
    device->record(event, quiet);
    while (!device->isDone(event)) {
    }
    device->synchronize(stream);
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(error.exitCode());
  }
  std::exit(0);
}

TEST(CudaFaultDeathTest, AWriteToNowhereNamesTheKernelAndEndsWithSix) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";

  EXPECT_EXIT(writeNowhere(), testing::ExitedWithCode(6),
              "an illegal memory access.*\n.*call .*\n  launched  .*Test::writeNowhere on stream 1\n  fix ");
}

}  // namespace
}  // namespace tessera

#endif
