// What a run leaves: nothing of it may be lost, wrong, or damaged without a word.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/faults/shell.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

void flip(const fs::path& file, std::int64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(at);
  const char byte = static_cast<char>(stream.get() ^ 4);
  stream.seekp(at);
  stream.put(byte);
}

TEST(FileSizes, ThatAreLimitedAreFiveAndNoCrash) {
  const Workplace place;
  place.file("big.toml",
             smallDeck("max_steps = 1", "", "cells = [1024, 1024, 1]\npatch_size = [256, 256, 1]"));
  // Below that MPI itself does not start with two ranks; above it no file is that long.
  const std::map<std::string, std::vector<int>> limits{{"1", {100, 6000}}, {"2", {6000}}};
  for (const auto& [ranks, tried] : limits) {
    for (const int limit : tried) {
      const std::string run = "r" + ranks + std::to_string(limit);
      const ProgramResult result =
          shell(place, "ulimit -f " + std::to_string(limit) + "; $T run big.toml -q --threads 1 --out " +
                           run + " -n " + ranks);
      EXPECT_EQ(result.exitCode, 5) << limit << " on " << ranks << ": " << result.err;
      EXPECT_THAT(result.err, HasSubstr("ulimit -f"));
      EXPECT_FALSE(place.has(run + "/out/fields_000001.hdf.tmp"));
    }
  }
}

TEST(RestartFromAnOlderCheckpoint, RemovesNothingUpToItWhateverIsDueNow) {
  const Workplace place;
  place.file("small.toml",
             smallDeck("max_steps = 20", "[output]\nevery_steps = 5\n[checkpoint]\nevery_steps = 10\n"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const std::string before = place.read("small/history.csv");
  const ProgramResult again = place.tessera({"restart", "small", "-q", "--from", "10", "--set",
                                             "output.every_steps=4", "--set", "history.every_steps=7"});
  ASSERT_EQ(again.exitCode, 0) << again.err;
  for (const char* file : {"000000", "000005", "000010", "000012", "000016", "000020"}) {
    EXPECT_TRUE(place.has("small/out/fields_" + std::string(file) + ".hdf")) << file;
  }
  EXPECT_FALSE(place.has("small/out/fields_000015.hdf"));
  const std::string after = place.read("small/history.csv");
  const std::size_t eleven = before.find("\n11,");
  EXPECT_EQ(after.substr(0, eleven), before.substr(0, eleven));
  EXPECT_THAT(after, HasSubstr("\n14,"));
}

TEST(History, OfAnyLengthIsTakenUpAgain) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 4"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  {
    // More than 64 MiB of lines of the steps so far.
    std::ofstream grown(place.path() / "small/history.csv", std::ios::app);
    const std::string line = "2,0.001,0.001," + std::string(1000, '1') + "\n";
    for (int n = 0; n < 70000; ++n) grown << line;
  }
  const ProgramResult again = place.tessera({"restart", "small", "-q", "--set", "time.max_steps=6"});
  EXPECT_EQ(again.exitCode, 0) << again.err;
  EXPECT_GT(fs::file_size(place.path() / "small/history.csv"), std::uintmax_t{64} << 20);
}

TEST(RunFolderThatIsMoved, StaysOneFolder) {
  for (const char* ranks : {"1", "2"}) {
    const Workplace place;
    place.file("small.toml", smallDeck("max_steps = 20000",
                                       "[output]\nevery_steps = 500\n[checkpoint]\nevery_steps = 500\n"));
    RunningProgram program(
        Workplace::command({"run", "small.toml", "-q", "--out", "a", "-n", ranks, "--threads", "1"}),
        place.path());
    ASSERT_TRUE(eventually([&] { return place.has("a/out/fields_000500.hdf"); }));
    fs::rename(place.path() / "a", place.path() / "b");
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_FALSE(place.has("a"));
    EXPECT_TRUE(place.has("b/out/fields_020000.hdf"));
    EXPECT_TRUE(place.has("b/checkpoints/ckpt-020000"));
    EXPECT_EQ(resultOf(place, "b", "status"), "done");
  }
}

TEST(SinglePrecision, ThatMakesAValueInfiniteIsAWarningWithTheCount) {
  const Workplace place;
  place.file("small.toml",
             "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [4, 4, 1]\n[time]\nmax_steps = 1\ndt = "
             "1e-9\n[heat]\nconductivity = 1e-9\ninitial = \"if(x < 0.5, 1e39, 1)\"\n[output]\nprecision = "
             "\"float32\"\n");
  const ProgramResult run = place.tessera({"run", "small.toml", "-q"});
  EXPECT_EQ(run.exitCode, 0);
  EXPECT_THAT(run.err, AllOf(HasSubstr("8 finite value(s) of fields_000000.hdf"), HasSubstr("float64")));
}

TEST(LastStep, IsNoTinyOneWhereAnOutputAndTheEndAreAsGoodAsOne) {
  const Workplace place;
  place.file("small.toml",
             smallDeck("end = 0.9\ndt = 0.01", "[output]\nevery = 0.03\n", "cells = [4, 4, 1]"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  EXPECT_EQ(resultOf(place, "small", "step"), "90");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(place.path() / "small/out"))
    files += entry.path().extension() == ".hdf";
  EXPECT_EQ(files, 31);
}

TEST(Expressions, AreEvaluatedAsWritten) {
  const Workplace place;
  place.file("small.toml",
             "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [10, 1, 1]\nupper = [20, 1, 1]\n[time]\n"
             "max_steps = 0\n[heat]\nconductivity = 1\ninitial = \"floor((x+1)/3)\"\n");
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  // Cells at 1, 3, 5 ... 19: floor((x+1)/3) is 0 1 2 2 3 4 4 5 6 6.
  place.file("sum.toml",
             "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [10, 1, 1]\nupper = [20, 1, 1]\n[time]\n"
             "max_steps = 0\n[heat]\nconductivity = 1\n"
             "initial = \"if(x<2,0,if(x<4,1,if(x<8,2,if(x<10,3,if(x<14,4,if(x<16,5,6))))))\"\n");
  ASSERT_EQ(place.tessera({"run", "sum.toml", "-q"}).exitCode, 0);
  const ProgramResult same =
      place.tessera({"compare", "--exact", "small/out/fields_000000.hdf", "sum/out/fields_000000.hdf"});
  EXPECT_EQ(same.exitCode, 0) << same.out;
}

class FlippedBit : public testing::TestWithParam<const char*> {};

TEST_P(FlippedBit, InAFileOfTheRunIsNamedByVerify) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 4", "[output]\nevery_steps = 2\n"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const ProgramResult whole = place.tessera({"info", "--verify", "small"});
  EXPECT_EQ(whole.exitCode, 0) << whole.out << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("as they were written"));
  const fs::path file = place.path() / "small" / GetParam();
  const auto size = static_cast<std::int64_t>(fs::file_size(file));
  const bool fields = file.extension() == ".hdf";
  flip(file, fields ? size - 300 : size / 2);
  const ProgramResult damaged = place.tessera({"info", "--verify", "small"});
  EXPECT_EQ(damaged.exitCode, 3) << damaged.out;
  EXPECT_THAT(damaged.out, AllOf(HasSubstr("DAMAGED"), HasSubstr(file.filename().string())));
}

INSTANTIATE_TEST_SUITE_P(EveryKind, FlippedBit,
                         testing::Values("out/fields_000002.hdf", "out/fields.hdf.series", "history.csv",
                                         "statistics.csv", "log.jsonl", "deck.toml", "resolved.toml",
                                         "provenance.json"));

TEST(FlippedValue, InAFieldFileIsNoticedByCompareAndInfo) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", "a"}).exitCode, 0);
  const fs::path file = place.path() / "a/out/fields_000002.hdf";
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  // The value of the first cell, 1/1024, somewhere in the middle of the file.
  const double first = 1.0 / 1024.0;
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&first), 8));
  flip(file, at == std::string::npos ? static_cast<std::int64_t>(bytes.size()) / 2
                                     : static_cast<std::int64_t>(at) + 3);
  const std::string name = "a/out/fields_000002.hdf";
  EXPECT_EQ(place.tessera({"info", name}).exitCode, 3);
  EXPECT_EQ(place.tessera({"compare", "--exact", name, name}).exitCode, 3);
}

}  // namespace
}  // namespace tessera::test
