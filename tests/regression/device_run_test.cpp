#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/regression/run_program.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

class DeviceRun : public testing::TestWithParam<std::string> {
 protected:
  ProgramResult tessera(const std::string& command, const std::string& what, int steps,
                        const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{command, what, "-q", "--set",
                                       "time.max_steps=" + std::to_string(steps)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return place_.tessera(arguments, 120.0);
  }
  std::string deck() const { return inputsPath() + "/" + GetParam() + ".toml"; }

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

  const ProgramResult compared = place_.tessera({"compare", "--exact", "host", "both"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  EXPECT_EQ(place_.read("both/history.csv"), place_.read("host/history.csv"));
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

  const ProgramResult compared = place_.tessera({"compare", "--exact", "host", "more"});
  EXPECT_EQ(compared.exitCode, 0) << compared.out << compared.err;
  EXPECT_EQ(place_.read("more/history.csv"), place_.read("host/history.csv"));
}

INSTANTIATE_TEST_SUITE_P(Inputs, DeviceRun,
                         testing::Values("heat/eigenmode_2d", "heat/variable_conductivity",
                                         "advection/zalesak", "wave/pulse", "levels/two_level"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

TEST(DeviceRunFaults, AreSentencesWithAFix) {
  const Workplace place;
  const std::string deck = inputsPath() + "/heat/eigenmode_2d.toml";
  const ProgramResult unknown = place.tessera({"run", deck, "--device", "gpu"});
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_THAT(unknown.err, HasSubstr("give none, cuda"));
  const ProgramResult tooMany = place.tessera({"run", deck, "--device", "emulated:9"});
  EXPECT_EQ(tooMany.exitCode, 2);
  EXPECT_THAT(tooMany.err, HasSubstr("a rank has one to 8 emulated devices"));
  const ProgramResult checked = place.tessera({"run", deck, "--device", "emulated", "--checked"});
  EXPECT_EQ(checked.exitCode, 2);
  EXPECT_THAT(checked.err, HasSubstr("leave --device out"));
  if (std::filesystem::exists("/dev/nvidiactl")) return;  // there is a driver, and so maybe a GPU
  const ProgramResult none = place.tessera({"run", deck, "--device", "cuda"});
  EXPECT_EQ(none.exitCode, 6);
  EXPECT_THAT(none.err, HasSubstr("run without --device cuda"));
}

}  // namespace
}  // namespace tessera::test
