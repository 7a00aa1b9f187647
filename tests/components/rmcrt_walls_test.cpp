#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A box of walls around nothing, of which one sends; all are black and cold unless said otherwise.
Simulate emptyBox(std::int64_t cells) {
  return simulate("rmcrt/burns_christon")
      .cells({cells, cells, cells})
      .set("rmcrt.emissive_power=0")
      .set("rmcrt.absorption=0")
      .set("rmcrt.stefan_boltzmann=1")
      .set("rmcrt.rays=1")
      .set("rmcrt.wall_rays=4");
}

TEST(RmcrtWalls, OneThatIsTheSameEverywhereIsAsANumber) {
  const auto cube = [] { return simulate("rmcrt/burns_christon").cells({6, 6, 6}).set("rmcrt.rays=3"); };
  const Outcome number = cube().set("rmcrt.wall.emissivity=0.7").set("rmcrt.wall.z_low.temperature=30").run();
  const Outcome varying = cube()
                              .set("rmcrt.wall.emissivity=\"0.7 + 0*x\"")
                              .set("rmcrt.wall.z_low.temperature=\"30 + 0*y\"")
                              .run();

  EXPECT_EQ(firstDifference(number, varying), "");
}

// What a face sends arrives at black and cold walls: its net flux is what it sends, by its own numbers.
TEST(RmcrtWalls, EachFaceHasATemperatureAndAnEmissivity) {
  const Outcome o = emptyBox(4)
                        .set("rmcrt.wall.x_high.temperature=\"1.1 + y\"")
                        .set("rmcrt.wall.x_high.emissivity=\"0.25 + 0.5*z\"")
                        .run();

  const WholeField& flux = o.fields.at("rmcrt.flux_x");
  double power = 0.0;
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const auto at = [](std::int64_t n) { return (static_cast<double>(n) + 0.5) / 4.0; };
      const double sent = (0.25 + 0.5 * at(k)) * std::pow(1.1 + at(j), 4);
      EXPECT_NEAR(flux({4, j, k}), -sent, 2e-14) << j << " " << k;
      power -= sent / 16.0;
    }
  }
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_high"), power, 2e-14);
}

// Faces of a finer level have the numbers of those of level 0 that they are a part of.
TEST(RmcrtWalls, FinerFacesHaveTheNumbersOfLevel0) {
  const Outcome o = emptyBox(2)
                        .set("grid.level=[{ lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [2, 2, 2] }]")
                        .set("rmcrt.wall.y_low.temperature=\"1 + x\"")
                        .run();

  const WholeField& flux = o.fields.at("rmcrt.flux_y on level 1");
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_NEAR(flux({i, 0, 1}), std::pow(i < 2 ? 1.25 : 1.75, 4), 1e-13) << i;
}

// A radiometer on the floor sees half of a lid that is hot in one half.
TEST(RmcrtWalls, RaysFindTheFaceThatTheyMeet) {
  const auto reading = [](const std::string& temperature) {
    return emptyBox(8)
        .set("rmcrt.wall.z_high.temperature=" + temperature)
        .set(
            "rmcrt.radiometer=[{ name = \"lid\", position = [0.5, 0.3, 0], direction = [0, 0, 1], "
            "rays = 20000 }]")
        .run()
        .end.at("rmcrt.radiometer_lid");
  };
  const double whole = reading("1");
  const double low = reading("\"if(x < 0.5, 1, 0)\"");
  const double high = reading("\"if(x < 0.5, 0, 1)\"");

  EXPECT_NEAR(low + high, whole, 1e-12);
  EXPECT_NEAR(low, 0.5 * whole, 4.0 * std::sqrt(low / 20000.0));
  EXPECT_GT(low, 0.1);
}

TEST(RmcrtWalls, AnEnclosureOfOneTemperatureIsAtRestHoweverGrey) {
  for (const char* precision : {"rmcrt.precision=\"float\"", "rmcrt.precision=\"double\""}) {
    const Outcome o = simulate("rmcrt/enclosure")
                          .set("rmcrt.wall.emissivity=\"0.2 + 0.7*x*y*z\"")
                          .set("rmcrt.solid.emissivity=0.4")
                          .set("rmcrt.wall.x_low.temperature=\"900 + 0*y\"")
                          .set(precision)
                          .run();
    for (const auto& [name, value] : o.end) {
      if (name.starts_with("rmcrt.")) EXPECT_EQ(value, 0.0) << name;
    }
  }
}

TEST(RmcrtWalls, EveryLayoutRankAndDeviceGivesTheSameBits) {
  const auto small = [] {
    return simulate("rmcrt/burns_christon_two_level")
        .cells({4, 4, 4})
        .set("rmcrt.rays=2")
        .set("rmcrt.wall.temperature=\"20*x + 30*y\"")
        .set("rmcrt.wall.emissivity=\"0.3 + 0.5*z\"")
        .set("rmcrt.wall.mirror=0.5");
  };
  const Outcome right = small().patches({1, 1, 1}).run();
  EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).ranks(3).threads(2).run()), "");
  EXPECT_EQ(firstDifference(right, small().patches({2, 1, 1}).checked().run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  EXPECT_EQ(firstDifference(right, small().patches({2, 1, 2}).ranks(2).devices(devices).run()), "");
}

TEST(RmcrtWalls, DecksThatMakeNoSenseAreErrors) {
  const auto errorOf = [](const std::string& assignment) -> std::string {
    try {
      emptyBox(4).set(assignment).run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(
      errorOf("rmcrt.wall.x_low.emissivity=\"2*y\"")
          .find("rmcrt.wall.x_low.emissivity is 1.25 at (0, 0.625, 0.125), on the wall x_low; let it be "
                "between 0 and 1"),
      std::string::npos)
      << errorOf("rmcrt.wall.x_low.emissivity=\"2*y\"");
  EXPECT_NE(errorOf("rmcrt.wall.temperature=\"z - 0.5\"").find("rmcrt.wall.temperature is -0.375 at"),
            std::string::npos);
  EXPECT_NE(errorOf("rmcrt.wall.emissivity=1.5").find("emissivity"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
