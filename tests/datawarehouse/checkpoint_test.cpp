#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Checkpoint, EveryBitComesBackForAnyNumberOfRanks) {
  const Sample sample;
  for (const int ranks : {1, 2, 3, 8}) {  // 8 ranks: some have no block at all
    TemporaryFolder folder;
    const CheckpointResult result = sample.write(folder / "checkpoints", 120, ranks);
    ASSERT_TRUE(result.committed) << result.failure;
    EXPECT_EQ(result.path, folder / "checkpoints" / "ckpt-000120");
    EXPECT_THAT(result.warnings, IsEmpty());
    sample.expectLoads(result.path, 120);
    EXPECT_EQ(CheckpointReader::open(result.path).writingRanks(), ranks);
    CheckpointReader::open(result.path).verifyAll();
  }
}

TEST(Checkpoint, BytesNamesTheSizeOfTheRankFiles) {
  TemporaryFolder folder;
  const CheckpointResult result = Sample{}.write(folder.path(), 1, 2);
  const auto size = [&](const char* name) {
    return static_cast<std::int64_t>(std::filesystem::file_size(result.path / name));
  };
  EXPECT_EQ(result.bytes, size("rank-00000.dat") + size("rank-00001.dat"));
}

TEST(Checkpoint, TwoGenerationsAreKept) {
  TemporaryFolder folder;
  const Sample sample;
  for (const std::int64_t step : {10, 20, 30}) ASSERT_TRUE(sample.write(folder.path(), step).committed);
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000020", "ckpt-000030"));
  EXPECT_THAT(validNames(folder.path()), ElementsAre("ckpt-000030", "ckpt-000020"));
  const auto list = listCheckpoints(folder.path());
  EXPECT_EQ(list.front().step, 30);
  EXPECT_EQ(list.front().time, sample.state(30).real("time"));
}

TEST(Checkpoint, ARestartThatWentBackIsNewerThanItsAbandonedFuture) {
  TemporaryFolder folder;
  const Sample sample;
  for (const std::int64_t step : {100, 120, 110}) ASSERT_TRUE(sample.write(folder.path(), step).committed);
  EXPECT_THAT(validNames(folder.path()), ElementsAre("ckpt-000110", "ckpt-000120"));
}

TEST(Checkpoint, ACheckpointOfTheSameStepIsReplaced) {
  TemporaryFolder folder;
  Sample larger;
  larger.patches = 6;
  ASSERT_TRUE(Sample{}.write(folder.path(), 10, 3).committed);
  ASSERT_TRUE(larger.write(folder.path(), 10, 2).committed);
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000010"));
  larger.expectLoads(folder / "ckpt-000010", 10);
}

TEST(Checkpoint, ReplacingWorksWhereTheFileSystemCannotExchangeFolders) {
  TemporaryFolder folder;
  Sample larger;
  larger.patches = 6;
  ASSERT_TRUE(Sample{}.write(folder.path(), 10).committed);
  FaultPlan plan;
  plan.add({.point = "checkpoint.rename", .occurrence = 1, .effect = FaultEffect::Fail, .error = EINVAL});
  ASSERT_TRUE(larger.write(folder.path(), 10, 1, &plan).committed);
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000010"));
  larger.expectLoads(folder / "ckpt-000010", 10);
}

TEST(Checkpoint, AnUnfinishedFolderIsNeitherListedNorInTheWay) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ckpt-000010.tmp");
  writeText(folder / "ckpt-000010.tmp" / "rank-00000.dat", "half");
  EXPECT_THAT(listCheckpoints(folder.path()), IsEmpty());
  ASSERT_TRUE(Sample{}.write(folder.path(), 10).committed);
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000010"));
}

TEST(Checkpoint, AFolderWithForeignFilesIsLeftAlone) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ckpt-000010.tmp");
  writeText(folder / "ckpt-000010.tmp" / "my-notes.txt", "keep me");
  const CheckpointResult result = Sample{}.write(folder.path(), 10);
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.failure, HasSubstr("ckpt-000010.tmp"));
  EXPECT_EQ(readText(folder / "ckpt-000010.tmp" / "my-notes.txt"), "keep me");
}

TEST(Checkpoint, LinksInsideTheFolderAreNotFollowed) {
  TemporaryFolder folder;
  TemporaryFolder elsewhere;
  writeText(elsewhere / "rank-00000.dat", "precious");
  std::filesystem::create_symlink(elsewhere.path(), folder / "ckpt-000010.tmp");
  EXPECT_FALSE(Sample{}.write(folder.path(), 10).committed);
  EXPECT_EQ(readText(elsewhere / "rank-00000.dat"), "precious");
}

TEST(Checkpoint, AFileInPlaceOfTheFolderIsAFailureThatNamesIt) {
  TemporaryFolder folder;
  writeText(folder / "checkpoints", "a file");
  const CheckpointResult result = Sample{}.write(folder / "checkpoints", 10, 2);
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.failure, HasSubstr((folder / "checkpoints").string()));
}

TEST(Checkpoint, AnExceptionWhilePackingOnOneRankReachesAllAsAFailure) {
  TemporaryFolder folder;
  const Sample sample;
  ASSERT_TRUE(sample.write(folder.path(), 10, 3).committed);
  FaultPlan plan;
  plan.add({.point = "checkpoint.write", .occurrence = 4, .effect = FaultEffect::Throw});
  const CheckpointResult result = sample.write(folder.path(), 20, 3, &plan);
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.failure, HasSubstr("a fault was injected at 'checkpoint.write'"));
  EXPECT_THAT(namesIn(folder.path()), ElementsAre("ckpt-000010"));
}

TEST(Checkpoint, ShortAndInterruptedWritesAreContinued) {
  TemporaryFolder folder;
  const Sample sample;
  FaultPlan plan;
  for (int n = 1; n <= 12; ++n)
    plan.add({.point = "checkpoint.write", .occurrence = n, .effect = FaultEffect::ShortWrite});
  ASSERT_TRUE(sample.write(folder.path(), 10, 1, &plan).committed);
  sample.expectLoads(folder / "ckpt-000010", 10);
}

TEST(CheckpointIdentity, TheSameSimulationIsAccepted) {
  TemporaryFolder folder;
  const Sample sample;
  const auto reader = CheckpointReader::open(sample.write(folder.path(), 10).path);
  CheckpointIdentity ours = sample.identity();
  std::swap(ours.labels[0], ours.labels[1]);  // the order means nothing
  ours.deckText = "another cfl";
  ours.codeVersion = "tessera 0.1.1";
  EXPECT_NO_THROW(reader.requireSame(ours));
  EXPECT_EQ(reader.identity().deckText, sample.identity().deckText);
}

TEST(CheckpointIdentity, AnotherGridComponentOrTypeIsRefusedWithBothValues) {
  TemporaryFolder folder;
  const Sample sample;
  const auto reader = CheckpointReader::open(sample.write(folder.path(), 10).path);

  CheckpointIdentity other = sample.identity();
  other.gridHash = "grid-5x5";
  EXPECT_THAT(inputErrorOf([&] { reader.requireSame(other); }),
              AllOf(HasSubstr("grid-5x5"), HasSubstr("grid-4x3")));

  other = sample.identity();
  other.components = {"heat", "advection"};
  EXPECT_THAT(inputErrorOf([&] { reader.requireSame(other); }),
              AllOf(HasSubstr("this run has     advection"), HasSubstr("checkpoint has   wave")));

  other = sample.identity();
  other.labels[0].type.scalar = Scalar::Float32;
  EXPECT_THAT(inputErrorOf([&] { reader.requireSame(other); }),
              AllOf(HasSubstr("temperature (float, cell)"), HasSubstr("temperature (double, cell)")));

  other = sample.identity();
  other.labels.pop_back();
  EXPECT_THAT(inputErrorOf([&] { reader.requireSame(other); }), HasSubstr("velocity (float[3], face x)"));
}

TEST(CheckpointState, ReportsAMissingKeyAndAWrongType) {
  const CheckpointState state = Sample{}.state(3);
  EXPECT_EQ(state.real("dt"), 1.0 / 3.0);
  EXPECT_EQ(state.integer("regrids"), 3000000021);
  EXPECT_THAT(inputErrorOf([&] { static_cast<void>(state.real("mass")); }), HasSubstr("no entry 'mass'"));
  EXPECT_THAT(inputErrorOf([&] { static_cast<void>(state.integer("dt")); }),
              HasSubstr("'dt' of the checkpoint's state is not"));
}

}  // namespace
}  // namespace tessera::test
