#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// What the components solve on refined levels: a name, the tables of a deck, and those of its mirror image.
struct LevelCase {
  const char* name;
  const char* component;
  const char* tables;
  const char* mirrored;
  const char* constant;  ///< the tables where nothing may change
  const char* odd = "";  ///< the variable that changes its sign in the mirror
};

std::ostream& operator<<(std::ostream& out, const LevelCase& one) { return out << one.name; }

// Polynomials of dyadic positions: the mirror image of a value is computed from the same numbers.
const LevelCase kHeat{"heat", "heat", "[heat]\nconductivity = '0.5 + x*y'\ninitial = 'x*x*(1 - y) + 2*x*y'\n",
                      "[heat]\nconductivity = '0.5 + (1-x)*y'\n"
                      "initial = '(1-x)*(1-x)*(1 - y) + 2*(1-x)*y'\n",
                      "[heat]\nconductivity = '0.5 + x*y'\ninitial = '0.3'\n"};
const LevelCase kUpwind{
    "upwind", "advection",
    "[advection]\nscheme = 'upwind'\nvelocity = { x = 0.75, y = 0.5 }\n"
    "initial = 'x*x*(1 - y) + 2*x*y'\n",
    "[advection]\nscheme = 'upwind'\nvelocity = { x = -0.75, y = 0.5 }\n"
    "initial = '(1-x)*(1-x)*(1 - y) + 2*(1-x)*y'\n",
    "[advection]\nscheme = 'upwind'\nvelocity = { x = 0.75, y = 0.5 }\ninitial = '0.25'\n"};
const LevelCase kPlm{"plm", "advection",
                     "[advection]\nvelocity = { x = 0.75, y = 0.5 }\ninitial = 'x*x*(1 - y) + 2*x*y'\n",
                     "[advection]\nvelocity = { x = -0.75, y = 0.5 }\n"
                     "initial = '(1-x)*(1-x)*(1 - y) + 2*(1-x)*y'\n",
                     "[advection]\nvelocity = { x = 0.75, y = 0.5 }\ninitial = '0.25'\n"};
const LevelCase kWave{"wave", "wave",
                      "[wave]\nspeed = 1\ninitial = 'x*x*(1 - y) + 2*x*y'\ninitial_velocity = 'x*y'\n",
                      "[wave]\nspeed = 1\ninitial = '(1-x)*(1-x)*(1 - y) + 2*(1-x)*y'\n"
                      "initial_velocity = '(1-x)*y'\n",
                      "[wave]\nspeed = 1\ninitial = '0.3'\n"};
const LevelCase kDiffusion{"diffusion", "diffusion",
                           "[[diffusion.quantity]]\nname = 'a'\ndiffusivity = 0.5\ninitial = 'x*x*(1 - y)'\n"
                           "[[diffusion.quantity]]\nname = 'b'\ndiffusivity = 1\ninitial = 'x*y'\n",
                           "[[diffusion.quantity]]\nname = 'a'\ndiffusivity = 0.5\n"
                           "initial = '(1-x)*(1-x)*(1 - y)'\n"
                           "[[diffusion.quantity]]\nname = 'b'\ndiffusivity = 1\ninitial = '(1-x)*y'\n",
                           "[[diffusion.quantity]]\nname = 'a'\ndiffusivity = 0.5\ninitial = '0.3'\n"};
const LevelCase kEuler{"euler",
                       "euler",
                       "[euler]\ninitial.points = 1\ninitial.density = '1 + x*y'\n"
                       "initial.velocity.x = '0.25*x'\ninitial.pressure = '1 + x*(1 - y)'\n",
                       "[euler]\ninitial.points = 1\ninitial.density = '1 + (1-x)*y'\n"
                       "initial.velocity.x = '-(0.25*(1-x))'\ninitial.pressure = '1 + (1-x)*(1 - y)'\n",
                       "[euler]\ninitial.density = '1.3'\ninitial.velocity.x = '0.7'\n"
                       "initial.velocity.y = '-0.2'\ninitial.pressure = '0.9'\n",
                       "gas.momentum_x"};

/// Three levels: a box at the lower x side and one of ratio 4 within; or its mirror image.
enum class Mesh { AsIs, Mirrored };

std::string levelDeck(const LevelCase& one, const char* tables, Mesh mesh = Mesh::AsIs,
                      const std::string& sizes1 = "[8, 8, 1]", const std::string& sizes2 = "[16, 8, 1]") {
  const bool asIs = mesh == Mesh::AsIs;
  return std::string("simulation.components = ['") + one.component +
         "']\ntime = { cfl = 0.4, max_steps = 12 }\n"
         "[grid]\ncells = [16, 16, 1]\npatches = [2, 2, 1]\n"
         "[[grid.level]]\nlower = " +
         (asIs ? "[0, 0.25, 0]" : "[0.5, 0.25, 0]") + "\nupper = " + (asIs ? "[0.5, 1, 1]" : "[1, 1, 1]") +
         "\npatch_size = " + sizes1 +
         "\n[[grid.level]]\nratio = 4\nlower = " + (asIs ? "[0.125, 0.5, 0]" : "[0.625, 0.5, 0]") +
         "\nupper = " + (asIs ? "[0.375, 0.75, 1]" : "[0.875, 0.75, 1]") + "\npatch_size = " + sizes2 + "\n" +
         tables;
}

class StaticLevels : public ::testing::TestWithParam<LevelCase> {};

TEST_P(StaticLevels, AConstantStaysExactlyConstant) {
  const Outcome before = simulateText(levelDeck(GetParam(), GetParam().constant)).run(0);
  const Outcome after = simulateText(levelDeck(GetParam(), GetParam().constant)).ranks(3).run();

  ASSERT_EQ(after.steps, 12);
  for (const auto& [name, field] : before.fields) {
    EXPECT_EQ(field.values, after.fields.at(name).values) << name;
  }
}

TEST_P(StaticLevels, GiveTheSameBitsForEveryLayoutOfEveryLevel) {
  const LevelCase& one = GetParam();
  const Outcome expected =
      simulateText(levelDeck(one, one.tables, Mesh::AsIs, "[99, 99, 1]", "[99, 99, 1]")).run();

  for (const char* sizes1 : {"[5, 7, 1]", "[16, 3, 1]"}) {
    for (const char* sizes2 : {"[7, 32, 1]", "[11, 5, 1]"}) {
      for (const int ranks : {1, 3}) {
        const Outcome o = simulateText(levelDeck(one, one.tables, Mesh::AsIs, sizes1, sizes2))
                              .patches({3, 2, 1})
                              .ranks(ranks)
                              .threads(ranks - 1)
                              .run();
        EXPECT_EQ(firstDifference(expected, o), "") << sizes1 << ' ' << sizes2 << ", " << ranks << " ranks";
      }
    }
  }
}

TEST_P(StaticLevels, AMirroredProblemHasMirroredBits) {
  const LevelCase& one = GetParam();
  const Outcome left = simulateText(levelDeck(one, one.tables)).run();
  const Outcome right = simulateText(levelDeck(one, one.mirrored, Mesh::Mirrored)).run();

  ASSERT_EQ(left.dt, right.dt);
  for (const auto& [name, field] : left.fields) {
    const WholeField& other = right.fields.at(name);
    const bool isOdd = *one.odd != '\0' && name.starts_with(one.odd);
    const std::int64_t n = field.box.extent().i;
    std::int64_t wrong = 0;
    forEachIndex(field.box, [&](Index x) {
      const double image = other({n - 1 - x.i, x.j, x.k});
      if (field(x) != (isOdd ? -image : image)) ++wrong;
    });
    EXPECT_EQ(wrong, 0) << name;
  }
}

TEST_P(StaticLevels, ACoveredCellHasTheMeanOfTheFinerOnes) {
  const Outcome o = simulateText(levelDeck(GetParam(), GetParam().tables)).ranks(2).run();

  for (const auto& [name, coarse] : o.fields) {
    if (name.starts_with("heat.conductivity")) continue;  // of positions, not of what is there
    if (name.find(" on level") != std::string::npos) continue;
    const WholeField& fine = o.fields.at(name + " on level 1");
    for (std::int64_t j = 4; j < 16; ++j) {
      for (std::int64_t i = 0; i < 8; ++i) {
        const double sum = (fine({2 * i, 2 * j, 0}) + fine({2 * i + 1, 2 * j, 0})) +
                           (fine({2 * i, 2 * j + 1, 0}) + fine({2 * i + 1, 2 * j + 1, 0}));
        ASSERT_EQ(coarse({i, j, 0}), 0.25 * sum) << name << ' ' << asText(Index{i, j, 0});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, StaticLevels, ::testing::Values(kHeat, kUpwind, kPlm, kWave, kDiffusion, kEuler),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LevelsOfHeat, CountEachPlaceOnceInTotalsAndNorms) {
  const Outcome o =
      simulateText(levelDeck(kHeat, "[heat]\nconductivity = 1\ninitial = '0.5'\nexact = '0.25'\n")).run();

  EXPECT_EQ(o.end.at("heat.total"), 0.5);
  EXPECT_EQ(o.end.at("heat.error_l1"), 0.25);
  EXPECT_EQ(o.end.at("heat.error_l2"), 0.25);
}

/// Halos of the nearest coarse cell, and each level with the fluxes of its own.
constexpr const char* kFirstOrder = "[amr]\nprolongation = 'constant'\nreflux = false\n";

/// The bar of `steadyBar` when nothing changes any more. With halos from the nearest coarse cell the flux
/// through a border of levels counts a distance of (r + 1)/2 finer cells as one: slopes b of the coarse cells
/// and a of the finer ones are in the ratio (r + 1)/(2 r). By symmetry the middle is at 1/2.
struct SteadyBar {
  double ratio;
  double h;  ///< of finer cells; they begin at 1/4 and end at 3/4

  double coarseSlope() const { return fineSlope() * (ratio + 1.0) / (2.0 * ratio); }
  double fineSlope() const {
    const double met = 0.25 + 0.5 * ratio * h;  // where both lines meet: the covered cell at the border
    return 0.5 / (0.5 - (1.0 - (ratio + 1.0) / (2.0 * ratio)) * met);
  }
  double fine(double x) const { return 0.5 + fineSlope() * (x - 0.5); }
  double coarse(double x) const { return x < 0.5 ? coarseSlope() * x : 1.0 - coarseSlope() * (1.0 - x); }
};

/// 16 cells between walls at 0 and 1, refined in the middle, with the temperature x at the start.
Simulate steadyBar(int ratio, double end) {
  return simulateText(
      "simulation.components = ['heat']\n[grid]\ncells = [16, 1, 1]\npatches = [2, 1, 1]\n"
      "[[grid.level]]\nratio = " +
      std::to_string(ratio) +
      "\nlower = [0.25, 0, 0]\nupper = [0.75, 1, 1]\n"
      "[heat]\nconductivity = 1\ninitial = 'x'\nexact = 'x'\n"
      "boundary.x_low = { type = 'dirichlet', value = 0 }\n"
      "boundary.x_high = { type = 'dirichlet', value = 1 }\n"
      "[time]\ncfl = 0.9\nend = " +
      std::to_string(end) + "\n" + kFirstOrder);
}

TEST(LevelsOfHeat, ALinearFieldTendsToTheLinesOfTheScheme) {
  for (const int ratio : {2, 4}) {
    SCOPED_TRACE(ratio);
    const SteadyBar bar{static_cast<double>(ratio), 1.0 / (16.0 * ratio)};

    const Outcome o = steadyBar(ratio, 3.0).run();

    const WholeField& coarse = o.fields.at("temperature");
    for (std::int64_t i : {0, 1, 2, 3, 12, 13, 14, 15}) {
      const double x = (static_cast<double>(i) + 0.5) / 16.0;
      EXPECT_NEAR(coarse({i, 0, 0}), bar.coarse(x), 1e-11) << i;
    }
    const WholeField& fine = o.fields.at("temperature on level 1");
    for (std::int64_t i = 4 * ratio; i < 12 * ratio; ++i) {
      const double x = (static_cast<double>(i) + 0.5) * bar.h;
      EXPECT_NEAR(fine({i, 0, 0}), bar.fine(x), 1e-11) << i;
    }
  }
}

TEST(LevelsOfHeat, ALinearFieldIsNeverFurtherOffThanThoseLines) {
  for (const int ratio : {2, 4}) {
    const SteadyBar bar{static_cast<double>(ratio), 1.0 / (16.0 * ratio)};
    const double x = 0.25 + 0.5 * bar.h;  // the first finer cell is the furthest one off
    const double bound = std::abs(bar.fine(x) - x);
    for (const double end : {0.001, 0.02, 0.2}) {
      EXPECT_LE(steadyBar(ratio, end).run().end.at("heat.error_max"), bound) << ratio << ", t = " << end;
    }
  }
}

TEST(LevelsOfHeat, TheErrorOfASpotFallsToThatOfTheFinerCells) {
  const double coarse = simulate("heat/spot_two_level").set("grid.level=[]").run().end.at("heat.error_l2");
  const double both = simulate("heat/spot_two_level").run().end.at("heat.error_l2");
  const double fine =
      simulate("heat/spot_two_level").set("grid.level=[]").cells({64, 64, 1}).run().end.at("heat.error_l2");

  EXPECT_LT(both, 0.4 * coarse);
  EXPECT_LT(both, 1.2 * fine);
}

TEST(LevelsOfAdvection, TheErrorOfAHumpInTheFinerBoxFalls) {
  const auto error = [](Simulate run) {
    return run.set("constants.width=0.07").set("time.end=0.05").run().end.at("advection.error_l1");
  };

  EXPECT_LT(error(simulate("advection/gaussian_two_level")),
            0.5 * error(simulate("advection/gaussian_two_level").set("grid.level=[]")));
}

TEST(LevelsOfAdvection, NoValueLeavesTheRangeOfWhatComesIn) {
  const Outcome o = simulate("advection/front_three_level").run();

  EXPECT_GE(o.end.at("advection.min"), 0.0);
  EXPECT_LE(o.end.at("advection.max"), 1.0);
  EXPECT_GT(o.end.at("advection.max"), 0.99);
}

// The border of a finer box, of ratio r, is to a wave what a change of impedance by (r + 1)/(2 r) is: it goes
// on with 4r/(3r + 1) of its height, and (r - 1)/(3r + 1) of it comes back.
TEST(LevelsOfWave, APulseIsThrownBackByTheBorderAsTheSchemeSays) {
  for (const int ratio : {2, 4}) {
    const Outcome o =
        simulateText(
            "simulation.components = ['wave']\n[grid]\ncells = [256, 1, 1]\npatches = [4, 1, 1]\n"
            "[[grid.level]]\nratio = " +
            std::to_string(ratio) +
            "\nlower = [0.5, 0, 0]\nupper = [1, 1, 1]\n"
            "[wave]\nspeed = 1\ninitial = 'exp(-((x - 0.3)/0.04)^2)'\n"
            "initial_velocity = '2*(x - 0.3)/0.04^2*exp(-((x - 0.3)/0.04)^2)'\n"
            "[time]\ncfl = 0.9\nend = 0.4\n" +
            kFirstOrder)
            .ranks(2)
            .run();

    const double r = ratio;
    EXPECT_NEAR(o.end.at("wave.max"), 4.0 * r / (3.0 * r + 1.0), 0.01) << ratio;
    const WholeField& coarse = o.fields.at("displacement");
    double back = 0.0;
    for (std::int64_t i = 40; i < 120; ++i) back = std::max(back, coarse({i, 0, 0}));
    EXPECT_NEAR(back, (r - 1.0) / (3.0 * r + 1.0), 0.01) << ratio;
  }
}

}  // namespace
}  // namespace tessera::test
