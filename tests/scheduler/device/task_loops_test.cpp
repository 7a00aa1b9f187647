#include "scheduler/device/loops/task_loops.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "components/advection/advection_kernels.hpp"
#include "components/heat/heat_kernels.hpp"
#include "components/wave/wave_kernels.hpp"
#include "core/text/error.hpp"
#include "tests/scheduler/device/body_rig.hpp"
#include "tests/scheduler/device/loop_bodies_kernels.hpp"

namespace tessera {
namespace {

using test::BodyRig;
using test::use;

constexpr AccessMode kOld = AccessMode::ReadOld;
constexpr AccessMode kNew = AccessMode::ReadNew;
constexpr AccessMode kWrite = AccessMode::Write;

/// A domain and its patches, which are of different sizes.
struct Mesh {
  Extent cells;
  Extent pieces;
};

std::vector<Mesh> meshes() {
  return {{{71, 1, 1}, {3, 1, 1}}, {{23, 18, 1}, {2, 3, 1}}, {{40, 11, 19}, {2, 2, 1}}};
}

Halo upTo(std::int64_t n) { return uniformHalo(n); }

class TaskLoopsClaims : public test::OnEachDevice {
 protected:
  /// On every mesh, in one stream and in three.
  static void expectBitsOfTheCpu(const TaskBody& body, const std::vector<test::Use>& uses,
                                 std::int32_t reductions = 0) {
    const auto device = makeDevice();
    for (const Mesh& mesh : meshes()) {
      SCOPED_TRACE(asText(mesh.cells));
      BodyRig rig(mesh.cells, mesh.pieces, uses, reductions);
      rig.expectSameBits(*device, body, 1);
      rig.expectSameBits(*device, body, 3, 2);
    }
  }
};

const Label<double, Cell> kA{0};
const Label<double, Cell> kB{1};
const Label<double, Cell> kC{2};

TEST_P(TaskLoopsClaims, HeatHasTheBitsOfTheCpu) {
  const HeatLabels labels{kA, kB, kC};
  for (const bool conductivityVaries : {false, true}) {
    for (const bool sourceVaries : {false, true}) {
      for (const double source : {0.0, 0.75}) {
        const TaskBody body = advanceHeat(labels, {0.3, source, conductivityVaries, sourceVaries});
        expectBitsOfTheCpu(body,
                           {use(kOld, kA, upTo(1)), use(kOld, kB, upTo(1)), use(kNew, kC), use(kWrite, kA)});
      }
    }
  }
}

TEST_P(TaskLoopsClaims, HeatsStableStepHasTheBitsOfTheCpu) {
  for (const bool varies : {false, true}) {
    const TaskBody body = stableHeatDt({kA, kB, kC}, {0.3, 0.0, varies, false}, ReductionLabel{0}, Old);
    expectBitsOfTheCpu(body, {use(kOld, kB)}, 1);
  }
}

TEST_P(TaskLoopsClaims, WaveHasTheBitsOfTheCpu) {
  const WaveLabels labels{kA, kB};
  expectBitsOfTheCpu(driftWave(labels, 1.7), {use(kOld, kA, upTo(1)), use(kOld, kB), use(kWrite, kA)});
  expectBitsOfTheCpu(kickWave(labels, 1.7),
                     {use(kOld, kA, upTo(1)), use(kNew, kA, upTo(1)), use(kOld, kB), use(kWrite, kB)});
  expectBitsOfTheCpu(stableWaveDt(ReductionLabel{0}, 1.7), {use(kOld, kA)}, 1);
}

const AdvectionLabels kAdvected{{0}, {1}, {2}, {3}, {4}};

/// With the velocities on faces where they vary.
std::vector<test::Use> withVelocities(std::vector<test::Use> uses) {
  uses.push_back(use(kOld, kAdvected.velocityX, {{}, ex}));
  uses.push_back(use(kOld, kAdvected.velocityY, {{}, ey}));
  uses.push_back(use(kOld, kAdvected.velocityZ, {{}, ez}));
  return uses;
}

class AdvectionOnDevices : public TaskLoopsClaims {
 protected:
  static AdvectionParams params(Limiter limiter, bool varies, const Mesh& mesh) {
    AdvectionParams p;
    p.limiter = limiter;
    p.velocityVaries = varies;
    p.velocity = {1.0, -0.7, 0.3};
    p.active = {mesh.cells.i > 1, mesh.cells.j > 1, mesh.cells.k > 1};
    p.inflow = {true, false, false, true, false, false};
    return p;
  }
};

TEST_P(AdvectionOnDevices, HasTheBitsOfTheCpuInBothStages) {
  const auto device = makeDevice();
  for (const Mesh& mesh : meshes()) {
    for (const Limiter limiter :
         {Limiter::Flat, Limiter::None, Limiter::Minmod, Limiter::VanLeer, Limiter::Mc}) {
      for (const bool varies : {false, true}) {
        SCOPED_TRACE(asText(mesh.cells) + " limiter " + std::to_string(static_cast<int>(limiter)));
        const AdvectionParams p = params(limiter, varies, mesh);
        BodyRig first(
            mesh.cells, mesh.pieces,
            withVelocities({use(kOld, kAdvected.concentration, upTo(2)), use(kWrite, kAdvected.stage)}));
        first.expectSameBits(*device, advanceAdvection(kAdvected, p, kAdvected.stage), 2);
        if (limiter == Limiter::Flat) continue;
        BodyRig second(
            mesh.cells, mesh.pieces,
            withVelocities({use(kOld, kAdvected.concentration), use(kNew, kAdvected.stage, upTo(2)),
                            use(kWrite, kAdvected.concentration)}));
        second.expectSameBits(*device, correctAdvection(kAdvected, p, Old), 1);
      }
    }
  }
}

TEST_P(AdvectionOnDevices, StableStepHasTheBitsOfTheCpu) {
  const auto device = makeDevice();
  for (const Mesh& mesh : meshes()) {
    for (const bool varies : {false, true}) {
      BodyRig rig(mesh.cells, mesh.pieces, withVelocities({}), 1);
      const AdvectionParams p = params(Limiter::Mc, varies, mesh);
      rig.expectSameBits(*device, stableAdvectionDt(kAdvected, p, ReductionLabel{0}, Old), 2);
    }
  }
}

TEST_P(TaskLoopsClaims, ALaterLoopSeesAllThatTheEarlierOneWroteInOtherParts) {
  expectBitsOfTheCpu(bodyOf(test::SmoothTwice{kA, kB, kC}),
                     {use(kOld, kA), use(kWrite, kB), use(kWrite, kC)});
}

TEST_P(TaskLoopsClaims, PatchesMayTakeDifferentBranches) {
  const auto device = makeDevice();
  BodyRig rig({31, 17, 5}, {4, 3, 1}, {use(kOld, kA), use(kWrite, kB)});
  rig.expectSameBits(*device, bodyOf(test::Branches{kA, kB}), 1, 2);
  rig.expectSameBits(*device, bodyOf(test::Branches{kA, kB}), 2, 2);
}

TEST_P(TaskLoopsClaims, ReductionsHaveTheBitsOfTheCpu) {
  expectBitsOfTheCpu(bodyOf(test::Reductions{kA, kB}), {use(kOld, kA), use(kWrite, kB)}, 6);
}

TEST_P(TaskLoopsClaims, ReductionsOfUnlikeNumbersHaveTheBitsOfTheCpu) {
  // Powers of 2 from the least to the largest one, of both signs, so that sums cancel and spread over all
  // digits.
  const auto spread = [](std::int32_t patch, Index x) {
    const auto n = static_cast<int>((x.i * 389 + x.j * 1013 + x.k * 61 + patch * 7) % 2090);
    return std::ldexp(n % 3 == 0 ? -1.1 : 1.3, n - 1070);
  };
  const auto device = makeDevice();
  for (const Mesh& mesh : meshes()) {
    BodyRig rig(mesh.cells, mesh.pieces, {use(kOld, kA), use(kWrite, kB)}, 6);
    rig.set(kA.id, spread);
    rig.expectSameBits(*device, bodyOf(test::Reductions{kA, kB}), 2);
  }
}

TEST_P(TaskLoopsClaims, ReductionsPassOverNanAndGiveZeroNoSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto device = makeDevice();
  // By patch: zeros of both signs with NaN among them; NaN alone; one infinity; both; zeros alone.
  const auto special = [&](std::int32_t patch, Index x) {
    const bool first = (x.i + x.j) % 2 == 0;
    switch (patch) {
      case 0:
        return first ? nan : x.j % 2 == 0 ? -0.0 : 0.0;
      case 1:
        return nan;
      case 2:
        return first ? infinity : -1.0;
      case 3:
        return first ? infinity : -infinity;
      default:
        return first ? 0.0 : -0.0;
    }
  };
  BodyRig rig({20, 12, 1}, {5, 1, 1}, {use(kOld, kA), use(kWrite, kB)}, 6);
  rig.set(kA.id, special);
  rig.expectSameBits(*device, bodyOf(test::Reductions{kA, kB}), 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TaskLoopsClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Kinds, AdvectionOnDevices, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
