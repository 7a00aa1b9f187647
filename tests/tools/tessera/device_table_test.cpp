#include "tools/simulation/deck/device_table.hpp"

#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A deck of heat whose line 6 is [device].
Deck deckWithDevice(const std::string& device) {
  return Deck::fromText(
      "[simulation]\ncomponents = [\"heat\"]\n[heat]\nconductivity = 1\ninitial = 0\n[device]\n" + device +
          "\n[grid]\ncells = [8, 8, 8]\n[time]\nend = 1\n",
      "d.toml");
}

/// Everything that is said against it before a mesh is made.
std::string deviceFaults(const std::string& device) {
  const Deck deck = deckWithDevice(device);
  const DeckDiagnostics findings = checkDeck(deck, builtInComponents());
  if (findings.hasErrors()) return findings.text();
  try {
    Model::check(deck, builtInComponents());
  } catch (const DeckError& error) {
    return error.message();
  }
  return "";
}

DeviceOptions optionsOf(const std::string& device) {
  return Model(deckWithDevice(device), builtInComponents()).settings().devices.over(DeviceOptions{});
}

TEST(DeviceTable, ASilentDeckLeavesTheOptionsAsTheyAre) {
  DeviceOptions options;
  options.placement = DevicePlacement::Cpu;
  options.limitBytes = 12345;
  options.graphs = true;

  const DeviceSettings silent = Model(deckWithDevice(""), builtInComponents()).settings().devices;

  EXPECT_FALSE(silent.given);
  EXPECT_EQ(silent.over(options).placement, DevicePlacement::Cpu);
  EXPECT_EQ(silent.over(options).limitBytes, 12345);
  EXPECT_TRUE(silent.over(options).graphs);
}

TEST(DeviceTable, EachKeyReachesTheOptions) {
  const DeviceOptions options = optionsOf(
      "placement = \"cost\"\nlimit = \"1.5 GiB\"\nmemory = \"managed\"\ngraphs = true\n"
      "[device.tasks]\ncpu = [\"Heat::stableDt\"]\ngpu = [\"Heat::advance\"]");

  EXPECT_EQ(options.placement, DevicePlacement::Cost);
  EXPECT_EQ(options.limitBytes, 3 * (std::int64_t{1} << 29));
  EXPECT_EQ(options.memory, DeviceMemoryKind::Managed);
  EXPECT_TRUE(options.graphs);
  EXPECT_THAT(options.cpuTasks, ElementsAre("Heat::stableDt"));
  EXPECT_THAT(options.gpuTasks, ElementsAre("Heat::advance"));
}

TEST(DeviceTable, ALimitIsASizeOrAPart) {
  EXPECT_EQ(parseDeviceLimit("500 MB")->bytes, 500'000'000);
  EXPECT_EQ(parseDeviceLimit("64KiB")->bytes, 65536);
  EXPECT_EQ(parseDeviceLimit("60 %")->bytes, 0);
  EXPECT_DOUBLE_EQ(parseDeviceLimit("60 %")->part, 0.6);
  EXPECT_DOUBLE_EQ(parseDeviceLimit("100%")->part, 1.0);
  for (const char* wrong : {"", "4", "4 gigs", "-1 GiB", "0 %", "101 %", "nan GiB", "0.1 B", "1e30 GiB",
                            "4 GiB of it", "0 GiB", "inf %"}) {
    EXPECT_FALSE(parseDeviceLimit(wrong)) << wrong;
  }
  EXPECT_THAT(deviceFaults("limit = \"4 gigs\""),
              HasSubstr("d.toml:7:9: error: device.limit is \"4 gigs\"; write a size such as \"4 GiB\""));
}

TEST(DeviceTable, UnknownWordsAreErrorsWithTheNearestOne) {
  EXPECT_THAT(deviceFaults("placement = \"gpus\""), HasSubstr("d.toml:7:13: error"));
  EXPECT_THAT(deviceFaults("memory = \"managd\""), HasSubstr("managed"));
  EXPECT_THAT(deviceFaults("[device.task]\ncpu = []"), HasSubstr("did you mean"));
  EXPECT_THAT(deviceFaults("tasks.cpu = \"Heat::advance\""), HasSubstr("d.toml:7:13: error"));
}

TEST(DeviceTable, AnUnknownTaskIsAnErrorWithTheNearestNameAndItsPlace) {
  const std::string text = deviceFaults("[device.tasks]\ncpu = [\"Heat::stableDt\", \"Heat::advanc\"]");

  EXPECT_THAT(text,
              HasSubstr("d.toml:8:26: error: device.tasks.cpu names \"Heat::advanc\", which is not a task "
                        "of this deck; did you mean 'Heat::advance'?"));
  EXPECT_THAT(text, Not(HasSubstr("names \"Heat::stableDt\"")));
}

TEST(DeviceTable, ATaskIsOnOneSideOnlyAndOneThatItHas) {
  EXPECT_THAT(deviceFaults("[device.tasks]\ncpu = [\"Heat::advance\"]\ngpu = [\"Heat::advance\"]"),
              HasSubstr("d.toml:9:8: error: task \"Heat::advance\" is named in device.tasks.cpu and in "
                        "device.tasks.gpu; remove one of them"));
  EXPECT_THAT(deviceFaults("[device.tasks]\ngpu = [\"Heat::initial\"]"),
              HasSubstr("d.toml:8:8: error: task \"Heat::initial\" has no body for devices"));
}

TEST(DeviceTable, ChangesNothingOfWhatARunIsNamedAfter) {
  EXPECT_EQ(Model(deckWithDevice("placement = \"cpu\""), builtInComponents()).runId(),
            Model(deckWithDevice(""), builtInComponents()).runId());
}

}  // namespace
}  // namespace tessera
