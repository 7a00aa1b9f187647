// Tools: what "equal" promises, what a restart believes, and what files from elsewhere can do.
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/faults/shell.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void damage(const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }

void flipValue(const fs::path& checkpoint) {
  std::fstream file(checkpoint / "rank-00000.dat", std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(600);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(600);
  file.put(byte);
}

TEST(CompareOfRuns, SaysEqualOnlyOfWhatIsWhole) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 4", "[checkpoint]\nevery_steps = 2\n"));
  for (const char* run : {"a", "b", "c", "d"})
    ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--out", run}).exitCode, 0);
  EXPECT_EQ(place.tessera({"compare", "--exact", "a", "b"}).exitCode, 0);
  damage(place.path() / "b/checkpoints/ckpt-000004/rank-00000.dat");
  const ProgramResult damaged = place.tessera({"compare", "--exact", "a", "b"});
  EXPECT_EQ(damaged.exitCode, 3);
  EXPECT_THAT(damaged.err, HasSubstr("damaged"));
  fs::remove_all(place.path() / "c/checkpoints");
  EXPECT_EQ(place.tessera({"compare", "--exact", "c", "a"}).exitCode, 3);
  fs::remove_all(place.path() / "d/checkpoints/ckpt-000004");
  EXPECT_EQ(place.tessera({"compare", "--exact", "a", "d"}).exitCode, 1);
}

TEST(CompareOfFields, OfOtherDomainsIsDifferent) {
  const Workplace place;
  const std::string time = "max_steps = 1\ndt = 1e-3";
  const std::string rest = "";
  place.file(
      "a.toml",
      "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [4, 4, 1]\n[time]\nmax_steps = 1\ndt = 1e-3\n"
      "[heat]\nconductivity = 1e-9\ninitial = 2\n");
  ASSERT_EQ(place.tessera({"run", "a.toml", "-q", "--out", "a"}).exitCode, 0);
  for (const char* change : {"grid.upper=[2.0, 1.0, 1.0]", "grid.lower=[-1.0, 0.0, 0.0]"}) {
    const std::string run = std::string("b") + change[5];
    ASSERT_EQ(place.tessera({"run", "a.toml", "-q", "--out", run, "--set", change}).exitCode, 0);
    const ProgramResult fields =
        place.tessera({"compare", "a/out/fields_000001.hdf", run + "/out/fields_000001.hdf"});
    EXPECT_EQ(fields.exitCode, 1) << change;
    EXPECT_EQ(
        place.tessera({"compare", "a/checkpoints/ckpt-000001", run + "/checkpoints/ckpt-000001"}).exitCode,
        1);
  }
}

TEST(RefinementRatio, IsThatOfTheAxesThatAreResolved) {
  const Workplace place;
  place.file("levels.toml",
             "[simulation]\ncomponents = [\"levels\"]\n[grid]\ncells = [1, 16, 16]\n[[grid.level]]\n"
             "lower = [0, 0.25, 0.25]\nupper = [1, 0.75, 0.75]\n[time]\nmax_steps = 1\ndt = 1e-3\n");
  ASSERT_EQ(place.tessera({"run", "levels.toml", "-q"}).exitCode, 0);
  const ProgramResult dump = shell(place, "h5dump -a /tessera/refinement_ratio levels/out/fields_000001.hdf");
  ASSERT_EQ(dump.exitCode, 0) << "h5dump is in tools/setup/packages.txt: " << dump.err;
  EXPECT_THAT(dump.out, HasSubstr("(0): 2"));
}

TEST(TraceFile, IsNeverOverwritten) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 2"));
  place.file("precious.txt", "of value");
  fs::create_directory(place.path() / "folder");
  for (const char* name : {"precious.txt", "folder"}) {
    const ProgramResult run = place.tessera({"run", "small.toml", "-q", std::string("--trace=") + name});
    EXPECT_EQ(run.exitCode, 5);
    EXPECT_THAT(run.err, HasSubstr("is there already"));
    EXPECT_FALSE(place.has("small"));
  }
  EXPECT_EQ(place.read("precious.txt"), "of value");
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q", "--trace"}).exitCode, 0);
  const std::string first = place.read("small/trace.json.gz");
  ASSERT_EQ(place.tessera({"restart", "small", "-q", "--trace", "--set", "time.max_steps=4"}).exitCode, 0);
  EXPECT_EQ(place.read("small/trace.json.gz"), first);
  EXPECT_TRUE(place.has("small/trace.001.json.gz"));
  EXPECT_EQ(place.tessera({"trace", "summary", "small", "--step", "4"}).exitCode, 0);
}

TEST(RestartThroughALink, Works) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  fs::create_symlink("small", place.path() / "link");
  const ProgramResult again = place.tessera({"restart", "link", "-q", "--set", "time.max_steps=4"});
  EXPECT_EQ(again.exitCode, 0) << again.err;
}

TEST(RestartBeforeTheCheckpoint, IsAFaultOfTheCommandLine) {
  const Workplace place;
  place.file("small.toml", smallDeck("end = 0.01"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  const ProgramResult again = place.tessera({"restart", "small", "--set", "time.end=0.005"});
  EXPECT_EQ(again.exitCode, 2);
  EXPECT_THAT(again.err, HasSubstr("before the time of the checkpoint"));
}

TEST(DamagedGeneration, DoesNotBlockRestartsForEver) {
  for (const char* file : {"manifest.json", "rank-00000.dat"}) {
    const Workplace place;
    place.file("small.toml", smallDeck("max_steps = 8", "[checkpoint]\nevery_steps = 4\n"));
    ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
    fs::path damaged = place.path() / "small/checkpoints/ckpt-000008" / file;
    if (!fs::exists(damaged)) damaged = place.path() / "small/checkpoints/ckpt-000008/manifest";
    damage(damaged);
    EXPECT_EQ(place.tessera({"restart", "small"}).exitCode, 3);
    // Ends below the damaged one, with two good ones.
    ASSERT_EQ(place
                  .tessera({"restart", "small", "-q", "--from", "4", "--set", "time.max_steps=6", "--set",
                            "checkpoint.every_steps=1"})
                  .exitCode,
              0);
    const ProgramResult again = place.tessera({"restart", "small", "-q", "--set", "time.max_steps=7"});
    EXPECT_EQ(again.exitCode, 0) << file << ": " << again.err;
  }
}

TEST(DamagedValues, InBothCheckpointsAreSaidAndTheAdviceEnds) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 4", "[checkpoint]\nevery_steps = 2\n"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  flipValue(place.path() / "small/checkpoints/ckpt-000002");
  flipValue(place.path() / "small/checkpoints/ckpt-000004");
  EXPECT_THAT(place.tessera({"info", "small"}).out, HasSubstr("DAMAGED"));
  const ProgramResult again = place.tessera({"restart", "small", "--set", "time.max_steps=6"});
  EXPECT_EQ(again.exitCode, 3);
  EXPECT_THAT(again.err, AllOf(Not(HasSubstr("--from")), HasSubstr("again")));
}

TEST(RestartWithoutProvenance, KeepsTheValuesOfTheRun) {
  for (const bool damaged : {false, true}) {
    const Workplace place;
    place.file("small.toml", smallDeck("max_steps = 20"));
    for (const char* run : {"a", "b"}) {
      ASSERT_EQ(place
                    .tessera({"run", "small.toml", "-q", "--out", run, "--set", "time.max_steps=6", "--set",
                              "time.cfl=0.3"})
                    .exitCode,
                0);
    }
    fs::remove(place.path() / "b/provenance.json");
    if (damaged) place.file("b/provenance.json", std::string(80000, '['));
    for (const char* steps : {"8", "10"}) {
      const std::string set = std::string("time.max_steps=") + steps;
      ASSERT_EQ(place.tessera({"restart", "a", "-q", "--set", set}).exitCode, 0);
      const ProgramResult again = place.tessera({"restart", "b", "-q", "--set", set});
      ASSERT_EQ(again.exitCode, 0) << again.err;
      const bool isFirst = std::string(steps) == "8";
      EXPECT_EQ(again.err.find("provenance.json") != std::string::npos, isFirst);
    }
    EXPECT_EQ(place.tessera({"compare", "--exact", "a", "b"}).exitCode, 0);
  }
}

TEST(FilesOfARunFolder, AreNotTrusted) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  place.file("small/result.json", "{\"status\": " + std::string(80000, '[') + std::string(80000, ']') + "}");
  EXPECT_EQ(place.tessera({"info", "small"}).exitCode, 3);
  fs::remove(place.path() / "small/result.json");
  place.file("small/provenance.json", "{\"a\": " + std::string(10000, '[') + std::string(10000, ']') + "}");
  place.file("small/out/fields.hdf.series", "");
  fs::resize_file(place.path() / "small/out/fields.hdf.series", std::uintmax_t{4} << 30);
  const ProgramResult again =
      shell(place, "ulimit -v 2000000; $T restart small -q --threads 1 --set time.max_steps=4");
  EXPECT_EQ(again.exitCode, 0) << again.err;
  EXPECT_LT(fs::file_size(place.path() / "small/provenance.json"), std::uintmax_t{1} << 20);
}

TEST(FilesOfARunFolder, ThatArePipesHangNobody) {
  const Workplace place;
  place.file("small.toml", smallDeck("max_steps = 2"));
  ASSERT_EQ(place.tessera({"run", "small.toml", "-q"}).exitCode, 0);
  for (const char* name : {"reserve", "log.jsonl", "history.csv", "deck.toml", "trace.json.gz"}) {
    const fs::path file = place.path() / "small" / name;
    const bool had = fs::exists(file);
    if (had) fs::rename(file, place.path() / "kept");
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    const ProgramResult again = place.tessera({"restart", "small", "-q", "--set", "time.max_steps=4"}, 20.0);
    EXPECT_GE(again.exitCode, 0) << name;
    EXPECT_NE(place.tessera({"info", "--verify", "small"}, 20.0).exitCode, -1) << name;
    EXPECT_NE(place.tessera({"trace", "summary", "small"}, 20.0).exitCode, -1) << name;
    fs::remove(file);
    if (had) fs::rename(place.path() / "kept", file);
  }
}

TEST(Trace, ThatWasMadeToFillMemoryIsRefused) {
  const Workplace place;
  const ProgramResult made = shell(
      place,
      "python3 -c \"import gzip; g=gzip.open('bomb.json.gz','wb'); g.write(b'{\\\"traceEvents\\\": [' + "
      "b'1,'*150000000 + b'1]}')\"",
      120.0);
  ASSERT_EQ(made.exitCode, 0) << "python3 is in tools/setup/packages.txt: " << made.err;
  const ProgramResult read = shell(place, "ulimit -v 1000000; $T trace summary bomb.json.gz");
  EXPECT_EQ(read.exitCode, 3) << read.err;
}

TEST(CheckOfALargeDeck, TakesTimeInProportion) {
  const Workplace place;
  std::string boxes = "[simulation]\ncomponents = [\"levels\"]\n[grid]\ncells = [512, 512, 1]\n";
  for (int n = 0; n < 16000; ++n) {
    const double x = (n % 128) / 128.0;
    const double y = (n / 128) / 128.0;
    boxes += "[[grid.level]]\nlevel = 1\nlower = [" + std::to_string(x) + ", " + std::to_string(y) +
             ", 0]\nupper = [" + std::to_string(x + 1.0 / 512.0) + ", " + std::to_string(y + 1.0 / 512.0) +
             ", 1]\n";
  }
  place.file("boxes.toml", boxes + "[time]\nmax_steps = 1\ndt = 1e-3\n");
  const ProgramResult check = place.tessera({"check", "boxes.toml"});
  EXPECT_EQ(check.exitCode, 0) << check.err.substr(0, 500);
  EXPECT_LT(check.seconds, 5.0);
}

TEST(CheckOfALargeDeck, OfLongExpressionsIsRefusedAtOnce) {
  const Workplace place;
  std::string constants = "[constants]\n";
  std::string sum = "1";
  while (sum.size() < 16000) sum += "+1";
  for (int n = 0; n < 250; ++n) constants += "a" + std::to_string(n) + " = \"" + sum + "\"\n";
  place.file("long.toml", smallDeck("max_steps = 1", constants));
  const ProgramResult check = place.tessera({"check", "long.toml"});
  EXPECT_EQ(check.exitCode, 2);
  EXPECT_THAT(check.err, HasSubstr("long.toml:"));
  EXPECT_LT(check.seconds, 5.0);
}

TEST(ExactSolution, ThatIsNoNumberIsFourAndNamesTheCell) {
  const Workplace place;
  place.file("nan.toml", smallDeck("max_steps = 2", "exact = \"sqrt(x - 0.5)\"\n"));
  const ProgramResult run = place.tessera({"run", "nan.toml", "-q"});
  EXPECT_EQ(run.exitCode, 4) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("exact solution"), HasSubstr("cell")));
}

}  // namespace
}  // namespace tessera::test
