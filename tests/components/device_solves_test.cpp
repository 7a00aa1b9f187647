#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "scheduler/device/backend/cuda_device.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

DeviceOptions solvingDevices(DeviceKind kind, int count) {
  DeviceOptions options = firstDevices(kind, count);
  if (kind == DeviceKind::Cuda) std::fill(options.numbers.begin(), options.numbers.end(), 0);
  return options;
}

/// Systems of one level of each kind that our own solver knows. All with odd numbers of cells, so that coarse
/// cells lack partners, and with values and slopes that differ along a side.
std::string systemText(const std::string& more) {
  return "simulation.components = [\"poisson\"]\ntime = { dt = 1, max_steps = 2 }\n"
         "grid = { cells = [21, 18, 19], patches = [3, 2, 2], periodic = [false, true, false] }\n"
         "[poisson]\nsource = \"exp(x)*sin(6.2831853*y) + z\"\n"
         "boundary.x_low.value = \"cos(3*z)\"\n"
         "boundary.z_high = { type = \"neumann\", value = \"sin(9*x)\" }\n" +
         more;
}

struct NamedSystem {
  const char* name;
  const char* more;
};
const NamedSystem kSystems[] = {
    {"Constant", ""},
    {"Varying", "coefficient = \"1 + 0.5*sin(7*x + 3*z)\"\n"},
    {"Solid", "solid.where = \"(x-0.4)^2 + (y-0.5)^2 + (z-0.6)^2 < 0.03\"\n"},
    {"Flow", "velocity = { x = 3, z = -2 }\n"},
    {"Jacobi", "[solver]\npreconditioner = \"jacobi\"\nmax_iterations = 500\n"},
    {"BiCgStab", "[solver]\nmethod = \"bicgstab\"\n"},
};

class DeviceSolves : public ::testing::TestWithParam<NamedSystem> {
 protected:
  void expectBitsOf(DeviceKind kind) const {
    const std::string text = systemText(GetParam().more);
    const Outcome right = simulateText(text).run();
    ASSERT_GT(right.solves.iterations, 0);
    ASSERT_EQ(right.solves.device.waits, 0);
    for (const int ranks : {1, 2, 3}) {
      for (const int count : {1, 2}) {
        const Outcome o = simulateText(text).ranks(ranks).devices(solvingDevices(kind, count)).run();
        EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks, " << count << " devices";
        EXPECT_EQ(o.solves.iterations, right.solves.iterations);
        EXPECT_GT(o.solves.device.waits, 0) << "solved on the host";
      }
    }
  }
};

TEST_P(DeviceSolves, HaveTheBitsOfTheHostOnAnyRanks) { expectBitsOf(DeviceKind::Emulated); }

TEST_P(DeviceSolves, HaveThemOnAGpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "this case needs a GPU, and there is none here";
  expectBitsOf(DeviceKind::Cuda);
}

TEST_P(DeviceSolves, HaveThemInOneBoxAndWithOtherPatches) {
  const std::string text = systemText(GetParam().more);
  const Outcome right = simulateText(text).run();
  for (const Extent patches : {Extent{1, 1, 1}, Extent{1, 3, 1}, Extent{2, 2, 2}}) {
    const Outcome o =
        simulateText(text).patches(patches).devices(solvingDevices(DeviceKind::Emulated, 1)).run();
    EXPECT_EQ(firstDifference(right, o), "") << patches.i << " x " << patches.j << " x " << patches.k;
    EXPECT_GT(o.solves.device.waits, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceSolves, ::testing::ValuesIn(kSystems),
                         [](const auto& info) { return std::string(info.param.name); });

/// Bytes that an iteration takes from the host to the device and back, and how often it waits.
DeviceTraffic trafficOfIteration(std::int64_t cells) {
  const auto solved = [&](const char* tolerance) {
    return simulate("poisson/eigenmode")
        .cells({cells, cells, cells})
        .patches({1, 1, 1})
        .set("poisson.source='x*y + z'")
        .set("time.max_steps=1")
        .set(std::string("solver.tolerance=") + tolerance)
        .devices(solvingDevices(DeviceKind::Emulated, 1))
        .run()
        .solves;
  };
  const SolveTotals few = solved("1e-3");
  const SolveTotals many = solved("1e-9");
  const std::int64_t iterations = many.iterations - few.iterations;
  EXPECT_GE(iterations, 2);
  return {(many.device.bytes - few.device.bytes) / iterations,
          (many.device.waits - few.device.waits) / iterations};
}

TEST(DeviceSolve, MovesNothingOfTheSizeOfTheSystemAndWaitsOnceForEachDotProduct) {
  const DeviceTraffic small = trafficOfIteration(16);
  const DeviceTraffic large = trafficOfIteration(48);

  EXPECT_EQ(small.waits, 3);
  EXPECT_EQ(large.waits, 3);
  // Closures of two levels more, where there are 27 times as many cells.
  EXPECT_LT(large.bytes, 2 * small.bytes);
  EXPECT_LT(large.bytes, std::int64_t{48} * 48 * 48 * 8 / 4);
}

std::string failureOfSolve(Simulate run) {
  try {
    run.run();
  } catch (const Error& error) {
    return error.message();
  }
  return "no failure";
}

TEST(DeviceSolve, FailsInTheWordsOfTheHost) {
  const char* const failures[] = {"solver.max_iterations=1", "poisson.coefficient=1e308",
                                  "poisson.boundary.y_low.value='1/(x - x)'"};
  for (const char* failure : failures) {
    for (const int ranks : {1, 2}) {
      const auto run = [&] {
        return simulate("poisson/eigenmode").cells({8, 8, 8}).patches({2, 2, 1}).ranks(ranks).set(failure);
      };
      const std::string onHost = failureOfSolve(run());
      EXPECT_THAT(onHost, ::testing::HasSubstr("linear"));
      EXPECT_EQ(failureOfSolve(run().devices(solvingDevices(DeviceKind::Emulated, 1))), onHost) << failure;
    }
  }
}

/// Solves that are given up, that come to their tolerance, and that are given up again: what follows on a
/// solve is a graph of the device by then, and each time another one.
TEST(DeviceSolve, HasTheBitsOfTheHostWhereSolvesEndInAnotherWayThanBefore) {
  const auto run = [] {
    return simulate("poisson/eigenmode")
        .cells({12, 12, 12})
        .patches({2, 1, 1})
        .set("solver.max_iterations=2")
        .set("solver.on_failure='warn'")
        .set("time.max_steps=14")
        .set("poisson.source='if(t < 9.5, exp(x)*y, 50*sin(9*x)*y)'")
        .keepHistory();
  };
  const Outcome right = run().run();
  ASSERT_GT(right.solves.failures, 3);
  ASSERT_LT(right.solves.failures, 12);

  const Outcome o = run().devices(solvingDevices(DeviceKind::Emulated, 1)).run();

  EXPECT_EQ(firstDifference(right, o), "");
  EXPECT_EQ(o.solves.failures, right.solves.failures);
  EXPECT_EQ(o.history.at("poisson.solve.residual"), right.history.at("poisson.solve.residual"));
  EXPECT_GT(o.solves.device.waits, 0);
}

TEST(DeviceSolve, IsDoneByTheHostWhereTheDeviceHasNoRoomForIt) {
  const auto run = [] { return simulate("poisson/eigenmode").cells({16, 16, 16}).patches({2, 1, 1}); };
  DeviceOptions small = solvingDevices(DeviceKind::Emulated, 1);
  small.limitBytes = 700'000;

  const Outcome o = run().devices(small).run();

  EXPECT_EQ(firstDifference(run().run(), o), "");
  EXPECT_EQ(o.paging.evictions, 0);
  EXPECT_EQ(o.solves.device.waits, 0);
}

}  // namespace
}  // namespace tessera::test
