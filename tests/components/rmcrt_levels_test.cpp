#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/burns_christon.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

std::string levelOf(int ratio, int patch) {
  const std::string n = std::to_string(patch);
  return "{ ratio = " + std::to_string(ratio) + ", lower = [0, 0, 0], upper = [1, 1, 1], patch_size = [" + n +
         ", " + n + ", " + n + "] }";
}

Simulate cubeOnLevels(std::int64_t coarse, const std::string& levels) {
  return simulate("rmcrt/burns_christon_two_level")
      .cells({coarse, coarse, coarse})
      .set("grid.level=[" + levels + "]")
      .set("rmcrt.wall_rays=0");
}

/// Root of the mean square error on the centre lines of the finest level, of 32 cells along each axis.
double errorOnFinest(const Outcome& o, int level) {
  const WholeField& divQ = o.fields.at("rmcrt.divQ on level " + std::to_string(level));
  double sum = 0.0;
  for (std::int64_t i = 0; i < 32; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / 32.0;
    const double exact = burnsChristonDivQ({x, 16.5 / 32.0, 16.5 / 32.0});
    for (const std::int64_t j : {15, 16}) {
      for (const std::int64_t k : {15, 16}) sum += std::pow(divQ({i, j, k}) - exact, 2) / 128.0;
    }
  }
  return std::sqrt(sum);
}

constexpr double kErrorWith64Rays = 0.1197 / 8.0;

TEST(RmcrtLevels, CellsOfTheEighthHaveTheErrorOfTheRaysAlone) {
  const Outcome o = cubeOnLevels(4, levelOf(8, 16)).set("rmcrt.rays=64").run();

  EXPECT_NEAR(errorOnFinest(o, 1), kErrorWith64Rays, 0.3 * kErrorWith64Rays);
  EXPECT_NEAR(o.end.at("rmcrt.loss"), 0.749847, 0.015 * 0.749847);
}

// Without a halo a ray from beside the border of a patch is in coarse cells from its start, which shows.
TEST(RmcrtLevels, WithAHaloThereIsTheErrorOfTheRaysAlone) {
  const auto errorWithHalo = [](int halo) {
    return errorOnFinest(
        cubeOnLevels(8, levelOf(4, 8)).set("rmcrt.rays=64").set("rmcrt.halo=" + std::to_string(halo)).run(),
        1);
  };
  for (const int halo : {1, 2, 8})
    EXPECT_NEAR(errorWithHalo(halo), kErrorWith64Rays, 0.3 * kErrorWith64Rays) << halo;
  const double without = errorWithHalo(0);
  EXPECT_LT(without, 1.7 * kErrorWith64Rays);
  EXPECT_GT(without, 1.1 * kErrorWith64Rays);
}

// The rays pass from the finest level through the next one to the coarsest.
TEST(RmcrtLevels, ALevelBetweenIsPassedOnTheWay) {
  const auto deck = [] {
    return cubeOnLevels(8, levelOf(2, 8) + ", " + levelOf(2, 8)).set("rmcrt.rays=64").set("rmcrt.halo=2");
  };
  const Outcome direct = deck().run();
  const Outcome between = deck().set("rmcrt.middle_halo=2").run();

  EXPECT_NEAR(errorOnFinest(direct, 2), kErrorWith64Rays, 0.3 * kErrorWith64Rays);
  EXPECT_NEAR(errorOnFinest(between, 2), kErrorWith64Rays, 0.3 * kErrorWith64Rays);
  EXPECT_EQ(direct.fields.at("rmcrt.divQ on level 1").box, between.fields.at("rmcrt.divQ on level 1").box);
  EXPECT_NE(direct.fields.at("rmcrt.divQ on level 2").values,
            between.fields.at("rmcrt.divQ on level 2").values);
}

// Where the middle holds the whole of its level, no ray comes to level 0, so its cells make no difference.
TEST(RmcrtLevels, AMiddleThatHoldsItsLevelLeavesNothingToTheCoarsest) {
  const auto finest = [](std::int64_t coarse, int ratio, const std::string& middle) {
    return cubeOnLevels(coarse, levelOf(ratio, 8) + ", " + levelOf(2, 8))
        .set("rmcrt.rays=2")
        .set("rmcrt.halo=1")
        .set(middle)
        .run()
        .fields.at("rmcrt.divQ on level 2")
        .values;
  };

  EXPECT_EQ(finest(4, 2, "rmcrt.middle_halo=8"), finest(2, 4, "rmcrt.middle_halo=8"));
  EXPECT_NE(finest(4, 2, "rmcrt.seed=0"), finest(2, 4, "rmcrt.seed=0"));
}

// Four levels: from the finest one through the two between to the coarsest. Where the second of these holds
// the whole of its level, no ray comes to level 0, so its cells make no difference; without it they would.
TEST(RmcrtLevels, TwoLevelsBetweenArePassedOnTheWay) {
  const auto finest = [](std::int64_t coarse, int ratio, const std::string& middle) {
    return cubeOnLevels(coarse, levelOf(ratio, 8) + ", " + levelOf(2, 8) + ", " + levelOf(2, 8))
        .set("rmcrt.rays=16")
        .set("rmcrt.halo=2")
        .set(middle)
        .run();
  };
  const Outcome between = finest(4, 2, "rmcrt.middle_halo=2");
  const Outcome whole = finest(4, 2, "rmcrt.middle_halo=8");

  const double expected = kErrorWith64Rays * 2.0;
  EXPECT_NEAR(errorOnFinest(between, 3), expected, 0.3 * expected);
  const auto values = [](const Outcome& o) { return o.fields.at("rmcrt.divQ on level 3").values; };
  EXPECT_EQ(values(whole), values(finest(2, 4, "rmcrt.middle_halo=8")));
  EXPECT_NE(values(between), values(whole));
  EXPECT_NE(values(between), values(finest(2, 4, "rmcrt.middle_halo=2")));
}

TEST(RmcrtLevels, ALevelBetweenThatDoesNotCoverTheDomainIsAnErrorThatSaysWhatToDo) {
  const auto inside = [](const char* lower, const char* upper) {
    return std::string("{ lower = [") + lower + "], upper = [" + upper + "], patch_size = [8, 8, 8] }";
  };
  try {
    cubeOnLevels(16, inside("0, 0, 0", "1, 1, 0.75") + ", " + inside("0, 0, 0", "0.75, 0.75, 0.5") + ", " +
                         inside("0.25, 0.25, 0.25", "0.375, 0.375, 0.375"))
        .set("rmcrt.middle_halo=1")
        .run();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("the boxes of level 1 do not cover the domain, which "
                        "\"Rmcrt::traceLevel3\" on level 3 looks for"),
              std::string::npos)
        << error.what();
  }
}

// Halos beyond the refined box are those of the coarser level, which has the means of the finer one.
TEST(RmcrtLevels, ALevelThatCoversAPartHasTheErrorOfTheRaysAlone) {
  const Outcome o = cubeOnLevels(16,
                                 "{ lower = [0.25, 0.25, 0.25], upper = [0.75, 0.75, 0.75], "
                                 "patch_size = [8, 8, 8] }")
                        .set("rmcrt.rays=64")
                        .run();

  const WholeField& fine = o.fields.at("rmcrt.divQ on level 1");
  double sum = 0.0;
  for (std::int64_t i = 8; i < 24; ++i) {
    const double x = (static_cast<double>(i) + 0.5) / 32.0;
    sum += std::pow(fine({i, 15, 16}) - burnsChristonDivQ({x, 15.5 / 32.0, 16.5 / 32.0}), 2) / 16.0;
  }
  EXPECT_LT(std::sqrt(sum), 2.0 * kErrorWith64Rays);
  EXPECT_NEAR(o.end.at("rmcrt.loss"), 0.749847, 0.015 * 0.749847);
}

TEST(RmcrtLevels, EveryLayoutRankAndDeviceGivesTheSameBits) {
  const std::array<std::string, 4> kinds{"rmcrt.precision=\"float\"", "rmcrt.scattering=\"1 + x\"",
                                         "rmcrt.incident=true", "rmcrt.middle_halo=1"};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto small = [&] {
      Simulate s = cubeOnLevels(4, levelOf(2, 4) + ", " + levelOf(2, 4))
                       .set("rmcrt.rays=2")
                       .set("rmcrt.wall.emissivity=0.7")
                       .set(kinds[kind]);
      if (kind % 2 == 1) s.set("rmcrt.precision=\"float\"").set("rmcrt.scattering=2");
      return s;
    };
    const Outcome right = small().patches({1, 1, 1}).run();
    EXPECT_EQ(firstDifference(right, small().patches({2, 2, 1}).ranks(3).threads(2).run()), "")
        << kinds[kind];
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 1}).checked().run()), "") << kinds[kind];
    const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
    EXPECT_EQ(firstDifference(right, small().patches({2, 1, 2}).ranks(2).devices(devices).run()), "")
        << kinds[kind];
  }
}

TEST(RmcrtLevels, FourLevelsHaveTheSameBitsOnEveryLayoutRankAndDevice) {
  const auto small = [] {
    return cubeOnLevels(2, levelOf(2, 4) + ", " + levelOf(2, 4) + ", " + levelOf(2, 4))
        .set("rmcrt.rays=2")
        .set("rmcrt.halo=1")
        .set("rmcrt.wall.emissivity=\"0.5 + 0.4*x\"")
        .set("rmcrt.middle_halo=1");
  };
  const Outcome right = small().patches({1, 1, 1}).run();
  EXPECT_EQ(firstDifference(right, small().patches({2, 1, 1}).ranks(3).threads(2).run()), "");
  EXPECT_EQ(firstDifference(right, small().patches({1, 2, 1}).checked().run()), "");
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 1);
  EXPECT_EQ(firstDifference(right, small().patches({1, 1, 2}).ranks(2).devices(devices).run()), "");
}

TEST(RmcrtLevels, AnEnclosureOfOneTemperatureIsAtRestWhateverTheMediumIs) {
  for (const std::string kind :
       {"rmcrt.scattering=\"1 + x\"", "rmcrt.precision=\"float\"", "rmcrt.middle_halo=2"}) {
    for (const char* other : {"rmcrt.seed=1", "rmcrt.scattering=0.5"}) {
      const Outcome o = simulate("rmcrt/enclosure")
                            .cells({6, 5, 4})
                            .set("grid.level=[" + levelOf(2, 6) + ", " + levelOf(2, 8) + "]")
                            .set("rmcrt.rays=3")
                            .set("rmcrt.wall_rays=3")
                            .set(other)
                            .set(kind)
                            .run();
      for (const auto& [name, value] : o.end) {
        if (!name.starts_with("rmcrt.")) continue;
        EXPECT_EQ(value, 0.0) << kind << " " << name;
      }
    }
  }
}

TEST(RmcrtLevels, AMiddleThatLeavesItsLevelIsAnErrorThatSaysWhatToDo) {
  const auto inside = [](const char* lower, const char* upper) {
    return std::string("{ lower = [") + lower + "], upper = [" + upper + "], patch_size = [8, 8, 8] }";
  };
  try {
    cubeOnLevels(8, inside("0.25, 0.25, 0.25", "0.75, 0.75, 0.75") + ", " +
                        inside("0.375, 0.375, 0.375", "0.625, 0.625, 0.625"))
        .set("rmcrt.middle_halo=6")
        .run();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("read fewer layers"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tessera::test
