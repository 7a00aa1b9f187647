// lowmach where forces balance each other exactly, and as seen from other sides: no axis and no direction is
// better than another.
#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

/// A flow of everything that the component has, in axes that are named otherwise, or in a mirror across the
/// first one.
struct View {
  std::array<int, 3> axisOf;  ///< the axis of the deck for each of the flow
  bool mirrored = false;

  static constexpr std::array<std::int64_t, 3> kCells{9, 8, 7};

  std::string text(const std::array<std::string, 3>& ofAxes) const {
    std::array<std::string, 3> placed;
    for (std::size_t a = 0; a < 3; ++a) placed[static_cast<std::size_t>(axisOf[a])] = ofAxes[a];
    return "[" + placed[0] + ", " + placed[1] + ", " + placed[2] + "]";
  }
  std::string axis(std::size_t a) const { return std::string(1, "xyz"[axisOf[a]]); }
  std::string side(std::size_t a, bool high) const {
    return axis(a) + (high != (mirrored && a == 0) ? "_high" : "_low");
  }
  /// An expression with a, b, c for the places along the axes of the flow.
  std::string at(const std::string& formula) const {
    std::string result;
    for (const char letter : formula) {
      if (letter == 'A' && mirrored)
        result += "(0.9 - " + axis(0) + ")";
      else if (letter >= 'A' && letter <= 'C')
        result += axis(static_cast<std::size_t>(letter - 'A'));
      else
        result += letter;
    }
    return "\"" + result + "\"";
  }
  /// A component of a vector, likewise.
  std::string along(std::size_t a, const std::string& formula) const {
    return mirrored && a == 0 ? at("-(" + formula + ")") : at(formula);
  }
  std::string deck(const std::string& more) const;

  Index place(std::array<std::int64_t, 3> x, int faceAxis) const {
    if (mirrored) x[0] = kCells[0] - (faceAxis == 0 ? 0 : 1) - x[0];
    Index placed;
    for (std::size_t a = 0; a < 3; ++a) placed[axisOf[a]] = x[a];
    return placed;
  }
};

std::string View::deck(const std::string& more) const {
  std::string t = "simulation.components = [\"lowmach\"]\ntime = { max_steps = 4, dt = 0.01 }\n";
  t += "solver.tolerance = 1e-12\n[grid]\ncells = " + text({"9", "8", "7"}) +
       "\nupper = " + text({"0.9", "0.8", "0.7"}) + "\npatches = [1, 1, 1]\n[lowmach]\n" + more;
  t += "mixing = { density = [3, 1], viscosity = 0.05 }\nviscosity = 0.01\ndiffusivity = 0.01\n";
  t += "gravity = " + text({mirrored ? "-1" : "1", "-3", "2"}) + "\nreference_density = 2\n";
  t += "initial.mixture_fraction = " + at("0.5 + 0.5*sin(4*A + 1)*cos(5*B)*sin(3*C)") + "\n";
  t += "initial.velocity." + axis(0) + " = " + along(0, "2*sin(7*A) - 0.6*sin(14*A) + 0.4*cos(7*B)") + "\n";
  t += "initial.velocity." + axis(1) + " = " + along(1, "0.8*sin(7*A)*cos(14*B)") + "\n";
  t += "initial.velocity." + axis(2) + " = " + along(2, "0.5*sin(7*C + 1)") + "\n";
  t += "boundary." + side(0, true) + ".type = \"outlet\"\nboundary." + side(0, false) +
       " = { type = \"inlet\", mixture_fraction = " + at("B") + ", velocity." + axis(0) + " = " +
       along(0, "1 + 4*t") + ", velocity." + axis(1) + " = " + along(1, "C") + ", velocity." + axis(2) +
       " = " + along(2, "-B") + " }\n";
  t += "boundary." + side(1, true) + ".type = \"slip\"\n";
  return t;
}

/// Fields of one view at places of the other; velocities turn round in a mirror.
void expectSameFlow(const Outcome& o, const View& view, const Outcome& other, const View& otherView) {
  const auto compare = [&](const std::string& name, const std::string& otherName, int faceAxis) {
    const double sign = faceAxis == 0 && view.mirrored != otherView.mirrored ? -1.0 : 1.0;
    std::array<std::int64_t, 3> end = View::kCells;
    if (faceAxis >= 0) ++end[static_cast<std::size_t>(faceAxis)];
    for (std::int64_t c = 0; c < end[2]; ++c) {
      for (std::int64_t b = 0; b < end[1]; ++b) {
        for (std::int64_t a = 0; a < end[0]; ++a) {
          const std::array x{a, b, c};
          ASSERT_NEAR(o.fields.at(name)(view.place(x, faceAxis)),
                      sign * other.fields.at(otherName)(otherView.place(x, faceAxis)), 1e-9)
              << name << " " << a << " " << b << " " << c;
        }
      }
    }
  };
  for (const char* name : {"density", "mixture_fraction", "pressure"}) compare(name, name, -1);
  for (std::size_t a = 0; a < 3; ++a)
    compare("velocity_" + view.axis(a), "velocity_" + otherView.axis(a), static_cast<int>(a));
}

void expectSameFlowInAllViews(const std::string& models, const char* solid) {
  const auto run = [&](const View& view) {
    const std::string where = *solid == 0 ? "" : "solid.where = " + view.at(solid) + "\n";
    return simulateText(view.deck(models + where)).run();
  };
  const View plain{{0, 1, 2}};
  const Outcome right = run(plain);
  ASSERT_LT(right.end.at("lowmach.divergence"), 1e-8);
  for (const View& view : {View{{0, 1, 2}, true}, View{{1, 2, 0}}, View{{1, 0, 2}}, View{{2, 0, 1}, true}})
    expectSameFlow(right, plain, run(view), view);
}

TEST(LowmachBalance, NoAxisAndNoDirectionIsBetterThanAnother) { expectSameFlowInAllViews("", ""); }

TEST(LowmachBalance, NoAxisAndNoDirectionIsBetterWithEddiesAndSolidCells) {
  const char* solid = "abs(A - 0.45) < 0.12 && abs(B - 0.3) < 0.1";
  expectSameFlowInAllViews("turbulence = \"smagorinsky\"\n", solid);
  expectSameFlowInAllViews("turbulence = \"smagorinsky\"\nconvection = \"limited\"\nstages = \"rk3\"\n",
                           solid);
}

/// Layers between a wall at rest and one that moves: viscosity 1 + 4 f, where f depends on y alone and stays.
TEST(LowmachBalance, LayersOfSeveralViscositiesCarryOneShearStress) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { end = 6, cfl = 0.8 }
grid = { cells = [4, 8, 1], upper = [1, 2, 1], patches = [1, 1, 1], periodic = [true, false, false] }
[lowmach]
viscosity = 1
mixing.viscosity = 5
initial.mixture_fraction = "0.1 + 0.4*y"
boundary.y_high = { type = "wall", velocity.x = 3 }
)deck")
                        .run();

  const double h = 0.25;
  const auto viscosity = [&](int j) { return 1.0 + 4.0 * (0.1 + 0.4 * (j + 0.5) * h); };
  double perStress = 0.5 * h / viscosity(0) + 0.5 * h / viscosity(7);
  for (int j = 0; j < 7; ++j) perStress += h / (0.5 * (viscosity(j) + viscosity(j + 1)));
  const double stress = 3.0 / perStress;
  double u = stress * 0.5 * h / viscosity(0);
  for (int j = 0; j < 8; ++j) {
    EXPECT_NEAR(o.fields.at("velocity_x")({2, j, 0}), u, 1e-7) << j;
    if (j < 7) u += stress * h / (0.5 * (viscosity(j) + viscosity(j + 1)));
  }
}

TEST(LowmachBalance, FluidInLayersStaysAtRestAndItsPressureBearsIt) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 5, dt_max = 0.02 }
solver.tolerance = 1e-12
grid = { cells = [6, 10, 1], patches = [2, 2, 1] }
[lowmach]
mixing.density = [4, 1]
gravity = [0, -9.81, 0]
reference_density = 1.5
initial.mixture_fraction = "0.2 + 0.5*y^2"
)deck")
                        .run();

  EXPECT_LT(o.end.at("lowmach.max_velocity"), 1e-9);
  const WholeField& rho = o.fields.at("density");
  const WholeField& p = o.fields.at("pressure");
  for (std::int64_t j = 1; j < 10; ++j) {
    const double density = 0.5 * (rho({3, j - 1, 0}) + rho({3, j, 0}));
    EXPECT_NEAR(p({3, j, 0}) - p({3, j - 1, 0}), -9.81 * (density - 1.5) * 0.1, 1e-8) << j;
  }
}

// Mass that arises unevenly spreads the flow along x: the velocity is the same with and without friction,
// which the pressure then bears: 4/3 of the viscosity times the change of du/dx.
TEST(LowmachBalance, AFluidThatSpreadsResistsByFourThirdsOfItsViscosity) {
  const auto run = [](const char* viscosity) {
    return simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 4, dt = 0.01 }
solver.tolerance = 1e-12
grid = { cells = [12, 6, 1], patches = [2, 1, 1] }
[lowmach]
mixing.density = [4, 1]
initial.mixture_fraction = 0.25
arising.mixture_fraction = 0.25
mass_source = "3*x^2"
boundary.x_low.type = "slip"
boundary.y_low.type = "slip"
boundary.y_high.type = "slip"
boundary.x_high.type = "outlet"
)deck")
        .set(viscosity)
        .run();
  };
  const Outcome smooth = run("lowmach.viscosity=0");
  const Outcome viscous = run("lowmach.viscosity=0.2");

  const WholeField& u = viscous.fields.at("velocity_x");
  const auto slope = [&](std::int64_t i) { return 12.0 * (u({i + 1, 3, 0}) - u({i, 3, 0})); };
  const auto more = [&](std::int64_t i) {
    return viscous.fields.at("pressure")({i, 3, 0}) - smooth.fields.at("pressure")({i, 3, 0});
  };
  ASSERT_GT(slope(11), 10.0 * slope(2));
  for (std::int64_t i = 1; i < 12; ++i)
    EXPECT_NEAR(more(i) - more(i - 1), 4.0 / 3.0 * 0.2 * (slope(i) - slope(i - 1)), 1e-8) << i;
}

/// The mean is taken from what arises, and leaves nothing but rounding, whose sum may be as large as the sum
/// of its amounts.
TEST(LowmachBalance, FluidThatArisesEverywhereAlikeInAClosedBoxStaysAtRest) {
  for (const char* cells : {"8,8,1", "7,7,1", "12,12,5"}) {
    for (const char* source : {"0.7", "1", "1.3"}) {
      const Outcome o = simulateText(std::string("simulation.components = [\"lowmach\"]\n") +
                                     "time = { dt = 0.01, max_steps = 3 }\ngrid.cells = [" + cells +
                                     "]\n[lowmach]\nmixing.density = [3, 1]\n"
                                     "initial.mixture_fraction = 0.3\nmass_source = " +
                                     source + "\n")
                            .run();
      EXPECT_LT(o.end.at("lowmach.max_velocity"), 1e-11) << cells << ", " << source;
    }
  }
}

TEST(LowmachBalance, TheStableStepIsThatOfFrictionAndWeight) {
  const Outcome o = simulateText(R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 1, cfl = 0.7 }
grid = { cells = [6, 10, 1], upper = [1.2, 1, 1], patches = [2, 2, 1] }
[lowmach]
density = 2
viscosity = 0.3
gravity = [0, -9.81, 0]
)deck")
                        .run();

  const double rate = 2.0 * 0.15 * (1.0 / 0.04 + 1.0 / 0.01);
  EXPECT_NEAR(o.dt, 0.7 * 2.0 / (rate + std::sqrt(rate * rate + 4.0 * 9.81 / 0.1)), 1e-12);
}

}  // namespace
}  // namespace tessera::test
