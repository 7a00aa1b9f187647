#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kCrashed = 42;
constexpr int kMostPoints = 500;

// Prepares a folder with `prepare`, then writes with a fault of `effect` at the N-th operation, N = 1, 2, 3
// ... until a run meets no fault. `check(folder, whole)` is called after each; whole = no fault was met.
void atEveryOperation(FaultEffect effect, const std::function<void(const std::filesystem::path&)>& prepare,
                      const std::function<void(const std::filesystem::path&, FaultPlan*)>& write,
                      const std::function<void(const std::filesystem::path&, bool)>& check) {
  int n = 1;
  for (bool whole = false; !whole; ++n) {
    ASSERT_LT(n, kMostPoints) << "the number of operations must not grow without bound";
    SCOPED_TRACE("fault at operation " + std::to_string(n));
    TemporaryFolder folder;
    prepare(folder.path());
    const int code = runInChild([&] {
      FaultPlan plan;
      plan.add({.point = "",
                .occurrence = n,
                .effect = effect,
                .error = effect == FaultEffect::Exit ? kCrashed : EIO});
      write(folder.path(), &plan);
      if (plan.hits() >= n) ::_exit(kCrashed);
    });
    ASSERT_TRUE(code == kCrashed || code == 0) << "exit code " << code;
    whole = code == 0;
    check(folder.path(), whole);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(n, 20) << "the faults never came";
}

TEST(CheckpointCrash, AtEveryOperationTheOldOrTheNewOneLoads) {
  const Sample sample;
  atEveryOperation(
      FaultEffect::Exit,
      [&](const auto& folder) {
        for (const std::int64_t step : {10, 20}) ASSERT_TRUE(sample.write(folder, step).committed);
      },
      [&](const auto& folder, FaultPlan* plan) { sample.write(folder, 30, 1, plan); },
      [&](const auto& folder, bool whole) {
        const auto valid = validNames(folder);
        ASSERT_GE(valid.size(), 2u);
        const bool isNew = valid.front() == "ckpt-000030";
        EXPECT_TRUE(isNew || !whole);
        sample.expectLoads(folder / valid[0], isNew ? 30 : 20);
        sample.expectLoads(folder / valid[1], isNew ? 20 : 10);
        // The next run is not hindered by what is left, and clears it.
        ASSERT_TRUE(sample.write(folder, 40).committed);
        EXPECT_THAT(namesIn(folder), ElementsAre(AnyOf("ckpt-000020", "ckpt-000030"), "ckpt-000040"));
      });
}

TEST(CheckpointCrash, WithOneGenerationReplacingItselfOneAlwaysLoads) {
  Sample before;
  Sample after;
  after.patches = 2;
  for (const bool canExchange : {true, false}) {
    atEveryOperation(
        FaultEffect::Exit, [&](const auto& folder) { ASSERT_TRUE(before.write(folder, 10).committed); },
        [&](const auto& folder, FaultPlan* plan) {
          if (!canExchange) plan->add({.point = "checkpoint.rename", .occurrence = 1, .error = EINVAL});
          after.write(folder, 10, 1, plan);
        },
        [&](const auto& folder, bool whole) {
          const auto valid = validNames(folder);
          ASSERT_GE(valid.size(), 1u);
          const auto blocks = CheckpointReader::open(folder / valid[0]).blocks().size();
          const bool isNew = blocks == after.blocks().size();
          EXPECT_TRUE(isNew || !whole);
          (isNew ? after : before).expectLoads(folder / valid[0], 10);
          ASSERT_TRUE(before.write(folder, 20).committed);
          EXPECT_THAT(namesIn(folder), ElementsAre("ckpt-000010", "ckpt-000020"));
        });
  }
}

TEST(CheckpointFailure, AnErrorOfEveryOperationLeavesTheOldOnesAndNothingHalf) {
  const Sample sample;
  atEveryOperation(
      FaultEffect::Fail,
      [&](const auto& folder) {
        for (const std::int64_t step : {10, 20}) ASSERT_TRUE(sample.write(folder, step).committed);
      },
      [&](const auto& folder, FaultPlan* plan) {
        const CheckpointResult result = sample.write(folder, 30, 1, plan);
        const bool there = std::filesystem::exists(folder / "ckpt-000030");
        if (result.committed != there) throw OutputError("result and folder disagree: " + result.failure);
        if (!result.committed && result.failure.find("Input/output error") == std::string::npos) {
          throw OutputError("no reason is given: " + result.failure);
        }
        if (std::filesystem::exists(folder / "ckpt-000030.tmp"))
          throw OutputError("the temporary folder was left");
      },
      [&](const auto& folder, bool) {
        const auto valid = validNames(folder);
        ASSERT_GE(valid.size(), 2u);
        sample.expectLoads(folder / valid[0], valid[0] == "ckpt-000030" ? 30 : 20);
      });
}

TEST(CheckpointFailure, AFailingFsyncOnAnyRankIsAFailedCheckpoint) {
  const Sample sample;
  for (int n = 1; n <= 3; ++n) {
    TemporaryFolder folder;
    ASSERT_TRUE(sample.write(folder.path(), 10, 3).committed);
    FaultPlan plan;
    plan.add({.point = "checkpoint.fsync", .occurrence = n, .effect = FaultEffect::Fail, .error = EIO});
    const CheckpointResult result = sample.write(folder.path(), 20, 3, &plan);
    EXPECT_FALSE(result.committed);
    EXPECT_THAT(result.failure,
                AllOf(HasSubstr("rank "), HasSubstr("cannot fsync"), HasSubstr("Input/output error")));
    EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000010"));
    sample.expectLoads(folder / "ckpt-000010", 10);
  }
}

TEST(CheckpointDiskFull, TheRunLearnsItEarlyAndKeepsThePreviousOne) {
  SmallDisk disk;
  Sample sample;
  ASSERT_TRUE(sample.write(disk.path() / "checkpoints", 10, 3).committed);
  Sample large;
  large.cells = 40000;  // 4 patches of 0.6 MB and more
  const CheckpointResult result = large.write(disk.path() / "checkpoints", 20, 3);
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.failure,
              AllOf(HasSubstr("cannot allocate"), HasSubstr("bytes"),
                    AnyOf(HasSubstr("No space left on device"), HasSubstr("File too large"))));
  EXPECT_THAT(namesIn(disk.path() / "checkpoints"), ElementsAre("ckpt-000010"));
  sample.expectLoads(disk.path() / "checkpoints" / "ckpt-000010", 10);
  EXPECT_TRUE(sample.write(disk.path() / "checkpoints", 30, 3).committed) << "small ones still fit";
}

TEST(CheckpointDiskFull, ALimitOnFileSizesIsAFailureToo) {
  TemporaryFolder folder;
  Sample large;
  large.cells = 4000;
  CheckpointResult result;
  {
    const FileSizeLimit limit(4096);
    result = large.write(folder.path(), 20, 2);
  }
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.failure, AllOf(HasSubstr("File too large"), HasSubstr("ulimit -f")));
  EXPECT_TRUE(namesIn(folder.path()).empty());
}

}  // namespace
}  // namespace tessera::test
