#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/burns_christon.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

constexpr double kRmsOfOneRay = 0.1197;  // of divQ on the centre line, by integration of the law of one ray

Simulate burnsChriston(std::int64_t cells, int rays) {
  return simulate("rmcrt/burns_christon")
      .cells({cells, cells, cells})
      .set("rmcrt.rays=" + std::to_string(rays));
}

/// Root of the mean square error of divQ on the lines along x that are nearest to the middle.
double errorOnCentreLines(const WholeField& divQ) {
  const std::int64_t n = divQ.box.extent().i;
  const double h = 1.0 / static_cast<double>(n);
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = [h](std::int64_t cell) { return (static_cast<double>(cell) + 0.5) * h; };
    const double exact = burnsChristonDivQ({at(i), at(n / 2), at(n / 2)});  // mirrors have the same
    for (std::int64_t k = (n - 1) / 2; k <= n / 2; ++k) {
      for (std::int64_t j = (n - 1) / 2; j <= n / 2; ++j) {
        const double error = divQ({i, j, k}) - exact;
        sum += error * error;
        ++count;
      }
    }
  }
  return std::sqrt(sum / static_cast<double>(count));
}

double errorOf(std::int64_t cells, int rays) {
  return errorOnCentreLines(
      burnsChriston(cells, rays).set("rmcrt.wall_rays=0").run().fields.at("rmcrt.divQ"));
}

TEST(BurnsChriston, TheReferenceHasThePublishedValues) {
  EXPECT_NEAR(burnsChristonDivQ({0.5, 0.5, 0.5}), 3.075608, 1e-5);
  EXPECT_NEAR(burnsChristonDivQ({0.75, 0.5, 0.5}), 1.826904, 1e-5);
  EXPECT_NEAR(burnsChristonDivQ({0.95, 0.5, 0.5}), 0.690097, 1e-5);
}

// 0.1197/sqrt(rays) with at most 30 % of scatter: the error is that of the rays alone.
TEST(Rmcrt, TheErrorFallsWithTheRootOfTheRays) {
  std::array<double, 3> logs{};
  const std::array<int, 3> rays{8, 32, 128};
  for (std::size_t n = 0; n < rays.size(); ++n) {
    const double expected = kRmsOfOneRay / std::sqrt(rays[n]);
    const double error = errorOf(32, rays[n]);
    EXPECT_NEAR(error, expected, 0.3 * expected) << rays[n] << " rays";
    logs[n] = std::log(error);
  }
  EXPECT_NEAR((logs[2] - logs[0]) / std::log(16.0), -0.5, 0.05);
}

TEST(Rmcrt, TheErrorDoesNotDependOnTheCells) {
  for (const std::int64_t cells : {16, 41}) {
    const double expected = kRmsOfOneRay / std::sqrt(16.0);
    EXPECT_NEAR(errorOf(cells, 16), expected, 0.3 * expected) << cells << " cells";
  }
}

TEST(Rmcrt, EvenDirectionsHaveLessError) {
  const Outcome o =
      burnsChriston(16, 32).set("rmcrt.directions=\"stratified\"").set("rmcrt.wall_rays=0").run();

  EXPECT_LT(errorOnCentreLines(o.fields.at("rmcrt.divQ")), 0.75 * kRmsOfOneRay / std::sqrt(32.0));
}

// The discretisation shows where the noise is far below it: cells of one absorption each.
TEST(Rmcrt, TheErrorOfTheCellsIsTheKnownOne) {
  const Outcome o = burnsChriston(16, 1)
                        .set("rmcrt.rays=2000")
                        .set("rmcrt.wall_rays=0")
                        .set("rmcrt.origins=\"centre\"")
                        .run();

  double sum = 0.0;
  double squares = 0.0;
  for (std::int64_t i = 0; i < 16; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / 16.0;
    const double exact = burnsChristonDivQ({x, 0.53125, 0.53125});
    double mean = 0.0;  // of the eight places that mirrors make of one
    for (const std::int64_t j : {7, 8}) {
      for (const std::int64_t k : {7, 8}) {
        for (const std::int64_t at : {i, 15 - i}) mean += o.fields.at("rmcrt.divQ")({at, j, k}) / 8.0;
      }
    }
    sum += (mean - exact) * (mean - exact);
    squares += exact * exact;
  }
  EXPECT_NEAR(std::sqrt(sum / squares), 1.9e-3, 0.3 * 1.9e-3);
}

TEST(Rmcrt, WallsTakeUpWhatTheGasLoses) {
  const Outcome o = burnsChriston(32, 60).run();

  double walls = 0.0;
  for (const char* side : {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"}) {
    const double power = o.end.at(std::string("rmcrt.wall_") + side);
    EXPECT_NEAR(power, 0.749847 / 6.0, 0.02 * 0.749847 / 6.0) << side;
    walls += power;
  }
  EXPECT_NEAR(walls, 0.749847, 0.01 * 0.749847);
  EXPECT_NEAR(o.end.at("rmcrt.loss"), 0.749847, 0.01 * 0.749847);
  EXPECT_EQ(o.start.at("rmcrt.loss"), 0.0);
}

TEST(Rmcrt, PlatesWithMirrorsHaveTheValuesOfPlatesWithoutEnd) {
  const Outcome o = simulate("rmcrt/plates").set("rmcrt.rays=400").run();

  double middle = 0.0;
  for (std::int64_t j = 0; j < 4; ++j) {
    for (std::int64_t k = 0; k < 4; ++k) middle += o.fields.at("rmcrt.divQ")({10, j, k}) / 16.0;
  }
  EXPECT_NEAR(middle, 300988.6, 0.01 * 300988.6);
  const double plate = 179826.2 * 0.04;
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_low"), plate, 0.01 * plate);
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_high"), plate, 0.01 * plate);
  EXPECT_NEAR(o.end.at("rmcrt.loss"), 2.0 * plate, 0.01 * 2.0 * plate);
  for (const char* mirror : {"y_low", "y_high", "z_low", "z_high"})
    EXPECT_EQ(o.end.at(std::string("rmcrt.wall_") + mirror), 0.0) << mirror;
}

// An axis of one cell goes on without end, so there are the plates themselves and no mirrors.
TEST(Rmcrt, AnAxisOfOneCellGoesOnWithoutEnd) {
  const Outcome o =
      simulate("rmcrt/plates").cells({21, 1, 1}).patches({3, 1, 1}).set("rmcrt.rays=6000").run();

  EXPECT_NEAR(o.fields.at("rmcrt.divQ")({10, 0, 0}), 300988.6, 0.01 * 300988.6);
  EXPECT_NEAR(o.end.at("rmcrt.wall_x_low"), 179826.2 * 0.04, 0.015 * 179826.2 * 0.04);
  EXPECT_EQ(o.end.at("rmcrt.wall_y_low"), 0.0);
}

// Grey plates: divided by 1 + (1/e - 1)(1 - 2 E3(1)), E3(1) = 0.1096919672.
TEST(Rmcrt, GreyPlatesReflectWhatTheyDoNotTakeUp) {
  for (const double mirror : {0.0, 1.0}) {
    const std::string wall =
        "{ temperature = 1000, emissivity = 0.5, mirror = " + std::to_string(mirror) + " }";
    const Outcome o = simulate("rmcrt/plates")
                          .set("rmcrt.rays=400")
                          .set("rmcrt.wall.x_low=" + wall)
                          .set("rmcrt.wall.x_high=" + wall)
                          .run();

    const double plate = 179826.2 * 0.04 / (1.0 + (1.0 - 2.0 * 0.1096919672));
    EXPECT_NEAR(o.end.at("rmcrt.wall_x_low"), plate, 0.015 * plate) << "mirror " << mirror;
    EXPECT_NEAR(o.end.at("rmcrt.loss"), 2.0 * plate, 0.015 * 2.0 * plate) << "mirror " << mirror;
  }
}

void expectNothing(const Outcome& o) {
  for (const auto& [name, field] : o.fields) {
    if (name.find("divQ") == std::string::npos && name.find("flux") == std::string::npos) continue;
    double largest = 0.0;
    forEachIndex(field.box, [&](Index x) { largest = std::max(largest, std::abs(field(x))); });
    EXPECT_EQ(largest, 0.0) << name;
  }
}

TEST(Rmcrt, AnEnclosureOfOneTemperatureIsExactlyAtRest) {
  expectNothing(simulate("rmcrt/enclosure").run());
  expectNothing(
      simulate("rmcrt/enclosure")
          .cells({6, 5, 4})
          .set("grid.level=[{ ratio = 2, lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [6, 5, 8] }]")
          .run());
}

TEST(Rmcrt, TwoLevelsHaveTheErrorOfTheRaysAlone) {
  for (const int ratio : {2, 4}) {
    const std::int64_t coarse = 32 / ratio;
    const Outcome o = simulate("rmcrt/burns_christon_two_level")
                          .cells({coarse, coarse, coarse})
                          .set("grid.level=[{ ratio = " + std::to_string(ratio) +
                               ", lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [16, 16, 16] }]")
                          .set("rmcrt.rays=64")
                          .run();

    const double expected = kRmsOfOneRay / 8.0;
    EXPECT_NEAR(errorOnCentreLines(o.fields.at("rmcrt.divQ on level 1")), expected, 0.3 * expected) << ratio;
    EXPECT_NEAR(o.end.at("rmcrt.loss"), 0.749847, 0.01 * 0.749847) << ratio;
  }
}

TEST(Rmcrt, EveryLayoutRankAndDeviceGivesTheSameBits) {
  for (const char* deck : {"rmcrt/burns_christon", "rmcrt/burns_christon_two_level", "rmcrt/enclosure"}) {
    const auto small = [&] {
      return simulate(deck).set("rmcrt.rays=3").cells({8, 8, 8}).set("rmcrt.wall.emissivity=0.7");
    };
    const Outcome right = small().patches({1, 1, 1}).run();
    EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).ranks(3).threads(2).run()), "") << deck;
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 1}).checked().run()), "") << deck;
    DeviceOptions devices;
    devices.kind = DeviceKind::Emulated;
    devices.numbers = {0};
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 2}).ranks(2).devices(devices).run()), "") << deck;
  }
}

/// divQ after so many steps of a deck that radiates every so many.
WholeField divQAfter(std::int64_t steps, int every) {
  return simulate("rmcrt/enclosure")
      .set("rmcrt.wall.temperature=300")
      .set("rmcrt.every=" + std::to_string(every))
      .set("time.max_steps=100")
      .run(steps)
      .fields.at("rmcrt.divQ");
}

TEST(Rmcrt, StepsWithoutRadiationKeepWhatTheLastOneLeft) {
  EXPECT_EQ(divQAfter(1, 3).values, divQAfter(1, 1).values);
  EXPECT_EQ(divQAfter(3, 3).values, divQAfter(1, 1).values);
  EXPECT_EQ(divQAfter(4, 3).values, divQAfter(4, 1).values);
  EXPECT_NE(divQAfter(4, 3).values, divQAfter(3, 3).values);
}

std::string errorOfDeck(Simulate simulation) {
  try {
    simulation.run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Rmcrt, DecksThatMakeNoSenseAreErrors) {
  const auto deck = [] { return simulate("rmcrt/burns_christon"); };
  EXPECT_NE(errorOfDeck(deck().set("grid.periodic=[true, false, false]")).find("the x axis is periodic"),
            std::string::npos);
  EXPECT_NE(errorOfDeck(deck().set("rmcrt.temperature=3"))
                .find("what radiates: temperature and emissive_power; give one"),
            std::string::npos);
  EXPECT_NE(errorOfDeck(deck().set("rmcrt.absorption_from=\"smoke\""))
                .find("what absorbs: absorption and absorption_from; give one"),
            std::string::npos);
  for (const std::string name : {"a/b", "", ".hidden", "two words"}) {
    EXPECT_NE(errorOfDeck(deck().set("rmcrt.absorption_from=\"" + name + "\""))
                  .find("has \"" + name + "\", which no variable can be called"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::test
