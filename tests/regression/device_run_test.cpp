#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/decks/repository_decks.hpp"
#include "tests/regression/run_program.hpp"
#include "tests/regression/small_decks.hpp"

namespace tessera::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class DeviceRun : public testing::TestWithParam<std::string> {
 protected:
  ProgramResult tessera(const std::string& command, const std::string& what, int steps,
                        const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{command, what, "-q", "--set",
                                       "time.max_steps=" + std::to_string(steps)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return place_.tessera(arguments, 120.0);
  }
  std::string deck() const { return pathOfDeck(GetParam()); }
  /// Of a run folder, held against the folder `host`.
  void expectTheBitsOfTheHost(const std::string& folder) const {
    const ProgramResult compared = place_.tessera({"compare", "--exact", "host", folder});
    EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
    EXPECT_EQ(place_.read(folder + "/history.csv"), place_.read("host/history.csv"));
  }

  Workplace place_;
};

TEST_P(DeviceRun, MayChangeFromHostToDeviceAndBackAtEachRestart) {
  ASSERT_EQ(tessera("run", deck(), 6, {"--out", "host"}).exitCode, 0);

  ASSERT_EQ(tessera("run", deck(), 2, {"--out", "both", "--device", "emulated"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "both", 3, {"-n", "2", "--threads", "1"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "both", 5, {"-n", "3", "--threads", "1", "--device", "emulated"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "both", 6,
                    {"--executor", "virtual", "--seed", "3", "--ranks", "2", "--device", "emulated"})
                .exitCode,
            0);

  expectTheBitsOfTheHost("both");
}

TEST_P(DeviceRun, MayChangeTheNumberOfDevicesAtEachRestart) {
  ASSERT_EQ(tessera("run", deck(), 6, {"--out", "host"}).exitCode, 0);

  ASSERT_EQ(tessera("run", deck(), 2, {"--out", "more", "--device", "emulated:2"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "more", 3, {"--device", "emulated"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "more", 4, {"-n", "2", "--threads", "1", "--device", "emulated:2"}).exitCode,
            0);
  ASSERT_EQ(tessera("restart", "more", 5, {"--threads", "2"}).exitCode, 0);
  ASSERT_EQ(tessera("restart", "more", 6,
                    {"--executor", "virtual", "--seed", "5", "--ranks", "2", "--device", "emulated:3"})
                .exitCode,
            0);

  expectTheBitsOfTheHost("more");
}

TEST_P(DeviceRun, AsGraphsOnAnotherNumberOfDevicesAfterEachRestartHasTheBitsOfTheHost) {
  const std::vector<std::string> graphs{"--threads", "2", "--set", "device.graphs=true", "--device"};
  const auto on = [&](std::vector<std::string> more, const std::string& devices) {
    more.insert(more.end(), graphs.begin(), graphs.end());
    more.push_back(devices);
    return more;
  };
  ASSERT_EQ(tessera("run", deck(), 18, {"--out", "host"}).exitCode, 0);

  const ProgramResult two = tessera("run", deck(), 6, on({"--out", "graphs"}, "emulated:2"));
  ASSERT_EQ(two.exitCode, 0);
  EXPECT_EQ(two.err, "") << "no warning: steps are replayed";
  ASSERT_EQ(tessera("restart", "graphs", 12, on({"-n", "2"}, "emulated:3")).exitCode, 0);
  ASSERT_EQ(tessera("restart", "graphs", 18, on({}, "emulated:4")).exitCode, 0);

  expectTheBitsOfTheHost("graphs");
}

INSTANTIATE_TEST_SUITE_P(Inputs, DeviceRun,
                         testing::Values("heat/eigenmode_2d", "heat/crank_nicolson",
                                         "heat/variable_conductivity", "advection/zalesak", "wave/pulse",
                                         "levels/two_level"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

/// Four devices have a quarter of the square each, so that patches of one lie between those of another in
/// every row.
TEST(PatchesOfADevice, AreOneLaunchThoughThoseOfOthersLieBetweenThem) {
  const Workplace place;
  const ProgramResult run =
      place.tessera({"run", pathOfDeck("heat/eigenmode_2d"), "-q", "--out", "quarters", "--device",
                     "emulated:4", "--trace", "--set", "grid.patches=[4,4,1]", "--set", "time.max_steps=10"});
  ASSERT_EQ(run.exitCode, 0) << run.err;

  const ProgramResult summary = place.tessera({"trace", "summary", "quarters"});

  // 10 steps on 4 devices: 40 launches with 4 of the 16 patches each.
  EXPECT_THAT(summary.out, ContainsRegex("Heat::advance +kernel +40 +160 "));
  EXPECT_THAT(summary.out, ContainsRegex("halo of Old temperature +fill +40 +160 "));
}

/// Of each quarter, the patch in the corner of a box with walls has no neighbour on another device.
TEST(HalosOfADevice, AreALaunchForThoseThatReachOtherDevicesAndOneForTheRest) {
  const Workplace place;
  const ProgramResult run = place.tessera(
      {"run", pathOfDeck("heat/cosine"), "-q", "--out", "quarters", "--device", "emulated:4", "--trace",
       "--set", "grid.cells=[16,16,8]", "--set", "grid.patch_size=[4,4,8]", "--set", "time.max_steps=10"});
  ASSERT_EQ(run.exitCode, 0) << run.err;

  const ProgramResult summary = place.tessera({"trace", "summary", "quarters"});

  EXPECT_THAT(summary.out, ContainsRegex("Heat::advance +kernel +40 +160 "));
  EXPECT_THAT(summary.out, ContainsRegex("halo of Old temperature +fill +80 +160 "));
}

TEST(DeviceRunFaults, AreSentencesWithAFix) {
  const Workplace place;
  const std::string deck = pathOfDeck("heat/eigenmode_2d");
  const ProgramResult unknown = place.tessera({"run", deck, "--device", "gpu"});
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr("give none, cuda"));
  const ProgramResult tooMany = place.tessera({"run", deck, "--device", "emulated:9"});
  EXPECT_EQ(tooMany.exitCode, 2);
  EXPECT_THAT(tooMany.err, HasSubstr("a rank has one to 8 emulated devices"));
  if (std::filesystem::exists("/dev/nvidiactl")) return;  // there is a driver, and so maybe a GPU
  const ProgramResult none = place.tessera({"run", deck, "--device", "cuda"});
  EXPECT_EQ(none.exitCode, 6);
  EXPECT_THAT(none.err, HasSubstr("run without --device cuda"));
}

/// The same numbers on both sides, so also the same first one that is not finite.
TEST(NonFiniteOnADevice, IsNamedInTheWordsOfTheHostAndEndsWithFour) {
  const Workplace place;
  place.file("unstable.toml", smallHeat("dt = 10\nend = 1e9\n[notes]\nx = 1"));
  const std::vector<std::string> run{"run",   "unstable.toml",        "-q",   "--threads", "1",
                                     "--set", "grid.patches=[1,1,1]", "--out"};
  std::vector<std::string> onHost = run;
  onHost.emplace_back("host");
  std::vector<std::string> onDevice = run;
  onDevice.insert(onDevice.end(), {"device", "--device", "emulated"});

  const ProgramResult right = place.tessera(onHost);
  const ProgramResult found = place.tessera(onDevice);

  EXPECT_EQ(found.exitCode, 4);
  EXPECT_THAT(found.err, HasSubstr("temperature = inf"));
  EXPECT_THAT(found.err, HasSubstr("Heat::advance"));
  EXPECT_EQ(found.err, right.err);
}

struct Fault {
  const char* name;
  const char* how;  ///< see tests/regression/faulty
  const char* text;
  const char* fix;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class PlannedDeviceFault : public testing::TestWithParam<Fault> {};

TEST_P(PlannedDeviceFault, IsOneMessageWithAFixAndEndsWithSix) {
  for (const char* ranks : {"1", "2"}) {
    const Workplace place;
    std::vector<std::string> command =
        Workplace::faultyCommand({"run", pathOfDeck("heat/eigenmode_2d"), "-n", ranks, "--threads", "1", "-q",
                                  "--out", "run", "--device", "emulated"});
    command.insert(command.begin(), {"env", std::string("FAULTY_DEVICE=") + GetParam().how});
    const ProgramResult run = RunningProgram(command, place.path()).wait();
    EXPECT_EQ(run.exitCode, 6) << run.err;
    EXPECT_LT(run.seconds, 30.0);
    EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr(GetParam().text));
    EXPECT_THAT(run.err, HasSubstr(GetParam().fix));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, PlannedDeviceFault,
    testing::Values(Fault{"absent", "absent", "there is none", "make a GPU visible to this process"},
                    Fault{"driver", "driver", "its driver is too old", "update the GPU's driver"},
                    Fault{"memory", "memory=20000", "its memory is used up", "use more GPUs"},
                    Fault{"lost", "lost=2000", "the device is lost", "restart from the last checkpoint"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DeviceOfOneRank, ThatIsAbsentIsOneMessageAndNoRunFolder) {
  const Workplace place;
  std::vector<std::string> command =
      Workplace::faultyCommand({"run", pathOfDeck("heat/eigenmode_2d"), "-n", "3", "--threads", "1", "-q",
                                "--out", "run", "--device", "emulated"});
  command.insert(command.begin(), {"env", "FAULTY_DEVICE=absent", "FAULTY_DEVICE_RANK=1"});
  const ProgramResult run = RunningProgram(command, place.path()).wait();
  EXPECT_EQ(run.exitCode, 6) << run.err;
  EXPECT_EQ(countOf(run.err, "tessera: error: "), 1) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("there is none"), HasSubstr("on rank 1 of 3")));
  EXPECT_THAT(run.err, Not(HasSubstr("Abort("))) << "the ranks agree, and none has to end the others";
  EXPECT_FALSE(place.has("run"));
}

TEST(StepsAsGraphs, AreNoneWhereVariablesAreSwappedAndAWarningSaysSo) {
  const Workplace place;
  place.file("small.toml", smallHeat("max_steps = 6"));
  const std::vector<std::string> run{"run", "small.toml", "-q", "--set", "device.graphs=true", "--out"};
  const auto on = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return place.tessera(more);
  };
  ASSERT_EQ(on({"host"}).exitCode, 0);

  // Of 21 KiB that all variables need, a page less.
  const ProgramResult swapped = on({"swapped", "--device", "emulated", "--set", "device.limit=\"20 KiB\""});

  EXPECT_EQ(swapped.exitCode, 0);
  EXPECT_THAT(swapped.err, HasSubstr("step plan \"step\" is launched task by task and not as graphs: its "
                                     "variables are swapped in and out within a step"));
  EXPECT_EQ(place.tessera({"compare", "--exact", "host", "swapped"}).exitCode, 0);
}

}  // namespace
}  // namespace tessera::test
