#include <bit>
#include <cstdint>
#include <random>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "datawarehouse/archive/crc32c.hpp"
#include "datawarehouse/archive/detail/block_format.hpp"
#include "datawarehouse/archive/detail/manifest.hpp"
#include "tests/datawarehouse/archive_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Opening and reading everything, as a restart does.
std::string refusalOf(const std::filesystem::path& checkpoint) {
  return inputErrorOf([&] { CheckpointReader::open(checkpoint).verifyAll(); });
}

class CheckpointDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(sample_.write(folder_.path(), 100, 2).committed);
    ASSERT_TRUE(sample_.write(folder_.path(), 120, 2).committed);
  }
  std::filesystem::path damaged() const { return folder_ / "ckpt-000120"; }
  std::filesystem::path file(const std::string& name) const { return damaged() / name; }

  Sample sample_{2, 1};
  TemporaryFolder folder_;
};

TEST_F(CheckpointDamage, AFileCutAtAnyLengthIsRefusedByName) {
  for (const std::string name : {"rank-00000.dat", "rank-00001.dat", "manifest.json"}) {
    const std::string whole = readText(file(name));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      writeText(file(name), whole.substr(0, length));
      ASSERT_THAT(refusalOf(damaged()), AllOf(HasSubstr(name), HasSubstr("ckpt-000100")))
          << "cut at " << length;
    }
    writeText(file(name), whole + "x");
    EXPECT_THAT(refusalOf(damaged()), HasSubstr(name)) << "one byte more";
    writeText(file(name), whole);
    sample_.expectLoads(damaged(), 120);
  }
}

TEST_F(CheckpointDamage, OneFlippedBitAnywhereIsRefused) {
  const std::vector<std::string> names{"rank-00000.dat", "rank-00001.dat", "manifest.json"};
  const std::uint32_t seed = 20240607;
  SCOPED_TRACE("replay: seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 300; ++n) {
    const std::string& name = names[random() % names.size()];
    const std::string whole = readText(file(name));
    std::string flipped = whole;
    const std::size_t bit = random() % (8 * whole.size());
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    writeText(file(name), flipped);
    ASSERT_THAT(refusalOf(damaged()), AllOf(HasSubstr(name), HasSubstr("fix"))) << name << " bit " << bit;
    writeText(file(name), whole);
  }
  sample_.expectLoads(damaged(), 120);
}

TEST_F(CheckpointDamage, AFlippedValueIsNamedByBlockAndByteAndTheOlderOneIsOffered) {
  const std::string whole = readText(file("rank-00000.dat"));
  const auto header = detail::encodeBlockHeader(sample_.blocks().front(), 0).size();
  const auto at = static_cast<std::size_t>(detail::kFileHeaderBytes + header + 3);
  std::string flipped = whole;
  flipped[at] = static_cast<char>(flipped[at] ^ 1);
  writeText(file("rank-00000.dat"), flipped);

  const std::string text = refusalOf(damaged());
  EXPECT_THAT(text, HasSubstr("a checkpoint block is damaged: its values changed"));
  EXPECT_THAT(text, HasSubstr("file      " + file("rank-00000.dat").string()));
  EXPECT_THAT(text, HasSubstr("block     temperature, level 0, patch 0, [0,0,0]..[0,1,0]"));
  EXPECT_THAT(text, HasSubstr("at byte   " + std::to_string(at - 3)));
  EXPECT_THAT(text, HasSubstr("expected  CRC32C 0x"));
  EXPECT_THAT(text, HasSubstr("found     CRC32C 0x"));
  EXPECT_THAT(text, HasSubstr("fix       restart --from 100, the other checkpoint ckpt-000100"));
}

TEST_F(CheckpointDamage, AnIndexWithABrokenCountIsRefusedBeforeItIsUsed) {
  std::string bytes = readText(file("rank-00000.dat"));
  for (std::size_t n = bytes.size() - 16; n < bytes.size() - 8; ++n)
    bytes[n] = '\x7f';  // the number of blocks
  writeText(file("rank-00000.dat"), bytes);
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("its end is not the one that the manifest names"));
}

TEST_F(CheckpointDamage, AMissingFileIsRefusedByName) {
  for (const std::string name : {"rank-00001.dat", "manifest.json"}) {
    std::filesystem::rename(file(name), folder_ / "aside");
    EXPECT_THAT(refusalOf(damaged()),
                AllOf(HasSubstr(name), HasSubstr("No such file"), HasSubstr("ckpt-000100")));
    std::filesystem::rename(folder_ / "aside", file(name));
  }
}

TEST_F(CheckpointDamage, SwappedRankFilesAreRefused) {
  std::filesystem::rename(file("rank-00000.dat"), folder_ / "aside");
  std::filesystem::rename(file("rank-00001.dat"), file("rank-00000.dat"));
  std::filesystem::rename(folder_ / "aside", file("rank-00001.dat"));
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("rank-00000.dat"));
}

TEST_F(CheckpointDamage, ARankFileOfAnOlderGenerationIsRefused) {
  std::filesystem::copy_file(folder_ / "ckpt-000100" / "rank-00001.dat", file("rank-00001.dat"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(refusalOf(damaged()), AllOf(HasSubstr("rank-00001.dat"), HasSubstr("the manifest names")));
}

TEST_F(CheckpointDamage, AnotherRunsFileOfTheSameStepIsRefused) {
  TemporaryFolder other;
  ASSERT_TRUE(sample_.write(other.path(), 120, 2).committed);
  std::filesystem::copy_file(other / "ckpt-000120" / "rank-00001.dat", file("rank-00001.dat"),
                             std::filesystem::copy_options::overwrite_existing);
  // All data are equal, only the generation differs: the header says so.
  EXPECT_THAT(refusalOf(damaged()), AllOf(HasSubstr("rank-00001.dat"), HasSubstr("generation")));
}

TEST_F(CheckpointDamage, AnotherFormatVersionIsRefusedWithBothVersions) {
  std::string manifest = readText(file("manifest.json"));
  manifest.replace(manifest.find(": 1"), 3, ": 2");
  writeText(file("manifest.json"), manifest);
  EXPECT_THAT(refusalOf(damaged()),
              AllOf(HasSubstr("another format version"), HasSubstr("expected  version 1"),
                    HasSubstr("found     version 2")));
}

TEST_F(CheckpointDamage, AForgedManifestCannotNameFilesElsewhere) {
  const std::string text = readText(file("manifest.json"));
  std::string body = text.substr(text.find("\"body\":\n") + 8);
  body.resize(body.size() - 3);
  body.replace(body.find("rank-00001.dat"), 14, "../../secrets.");
  const detail::Manifest right = detail::decodeManifest(text, "manifest.json");
  EXPECT_EQ(right.files.size(), 2u);
  char crc[16];
  std::snprintf(crc, sizeof crc, "%08x", crc32c(std::as_bytes(std::span(body.data(), body.size()))));
  writeText(file("manifest.json"), "{\"tessera_checkpoint\": 1, \"crc32c\": \"" + std::string(crc) +
                                       "\", \"body\":\n" + body + "\n}\n");
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("its list of files is out of order"));
}

TEST_F(CheckpointDamage, ARankFileThatIsALinkOrAPipeIsRefused) {
  std::filesystem::rename(file("rank-00001.dat"), folder_ / "aside");
  std::filesystem::create_symlink(folder_ / "aside", file("rank-00001.dat"));
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("rank-00001.dat"));
  std::filesystem::remove(file("rank-00001.dat"));
  ASSERT_EQ(::mkfifo(file("rank-00001.dat").c_str(), 0600), 0);
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("not a regular file"));
}

TEST_F(CheckpointDamage, ADamagedOneIsListedLastWithItsProblemAndWithoutAnotherTheAdviceIsToStartAgain) {
  std::filesystem::remove(file("rank-00000.dat"));
  const auto list = listCheckpoints(folder_.path());
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].valid);
  EXPECT_EQ(list[0].step, 100);
  EXPECT_FALSE(list[1].valid);
  EXPECT_THAT(list[1].problem, HasSubstr("rank-00000.dat"));
  std::filesystem::remove_all(folder_ / "ckpt-000100");
  EXPECT_THAT(refusalOf(damaged()), HasSubstr("no other checkpoint is valid"));
}

TEST_F(CheckpointDamage, ADamagedNewestCheckpointIsNotDeletedByTheNextWrite) {
  std::filesystem::remove(file("manifest.json"));
  for (const std::int64_t step : {130, 140}) ASSERT_TRUE(sample_.write(folder_.path(), step, 2).committed);
  EXPECT_EQ(validNames(folder_.path()), (std::vector<std::string>{"ckpt-000140", "ckpt-000130"}));
  EXPECT_TRUE(std::filesystem::exists(file("rank-00000.dat")));
}

TEST(ExactText, EveryDoubleComesBackBitByBit) {
  for (const double x : {0.0, -0.0, 1.0 / 3.0, -1e300, 5e-324, 2.2250738585072014e-308}) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(detail::exactDouble(detail::exactText(x))),
              std::bit_cast<std::uint64_t>(x));
  }
  EXPECT_EQ(detail::exactText(3.0), "0x1.8p+1");
  EXPECT_THROW(detail::exactDouble("0x1.8q"), InputError);
  EXPECT_THROW(detail::exactDouble(""), InputError);
}

}  // namespace
}  // namespace tessera::test
