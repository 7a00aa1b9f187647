// lowmach with state relations from files and of flames, with sources of other components, and with mass that
// arises.
#include <cmath>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/lowmach/state_table.hpp"
#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

/// The name of a file of this test with a text in it.
std::string stateFile(const std::string& text) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string file = ::testing::TempDir() + test->name() + "_state.txt";
  std::ofstream(file) << text;
  return file;
}

/// Two streams that are stirred, whose density a line says how to find.
std::string stirredBy(const std::string& relation) {
  return R"deck(
simulation.components = ["lowmach"]
time = { max_steps = 5, cfl = 0.4 }
grid = { cells = [12, 12, 1], patches = [2, 1, 1], periodic = [true, true, false] }
[lowmach]
viscosity = 0.01
diffusivity = 0.01
initial.mixture_fraction = "0.5 + 0.5*sin(2*pi*x)*cos(2*pi*y)"
initial.velocity.x = "1 - cos(2*pi*x)*sin(2*pi*y)"
initial.velocity.y = "sin(2*pi*x)*cos(2*pi*y)"
)deck" + relation;
}

std::string fromFile(const std::string& table, const std::string& more = "") {
  return stirredBy("state = \"table\"\nstate_file = \"" + stateFile(table) + "\"\n" + more);
}

void expectNear(const WholeField& expected, const WholeField& actual, double tolerance) {
  ASSERT_EQ(expected.values.size(), actual.values.size());
  for (std::size_t n = 0; n < expected.values.size(); ++n)
    ASSERT_NEAR(expected.values[n], actual.values[n], tolerance) << n;
}

TEST(LowmachState, ATableOfTwoStreamsIsTheirMixture) {
  const Outcome streams = simulateText(stirredBy("mixing.density = [20, 1]\n")).run();
  const Outcome table = simulateText(fromFile("# streams\nmixture_fraction density temperature\n"
                                              "0 20 300\n0.25 3.478260869565217 450\n1 1 900\n"))
                            .run();

  for (const char* what : {"density", "mixture_fraction", "velocity_x", "velocity_y"})
    expectNear(streams.fields.at(what), table.fields.at(what), 1e-9);
  const WholeField& f = table.fields.at("mixture_fraction");
  const WholeField& T = table.fields.at("temperature");
  for (std::size_t n = 0; n < f.values.size(); ++n)
    ASSERT_NEAR(T.values[n], 300.0 + 600.0 * f.values[n], 1e-9);
}

// Densities 2/(1 + h/1000) do not depend on f: the volume is linear in h, as of a gas that is heated.
TEST(LowmachState, ATableOfEnthalpyIsThatOfAGasThatIsHeated) {
  const std::string table =
      "enthalpy mixture_fraction density heat_capacity absorption\n"
      "0 0 2 1000 0.5\n0 1 2 1000 1.5\n1000 0 1 1000 0.5\n1000 1 1 1000 1.5\n";
  const Outcome o =
      simulateText(fromFile(table, "initial.enthalpy = 0\nheat_source = 200\nexact.enthalpy = \"0*t\"\n"))
          .run();

  // Of a closed box the pressure rises, not the volume: each cell gains the same, so nothing moves but by f.
  const WholeField& h = o.fields.at("enthalpy");
  for (const double value : h.values) ASSERT_NEAR(value, 100.0 * o.time, 1e-9);
  const WholeField& f = o.fields.at("mixture_fraction");
  const WholeField& kappa = o.fields.at("lowmach.absorption");
  for (std::size_t n = 0; n < f.values.size(); ++n) ASSERT_NEAR(kappa.values[n], 0.5 + f.values[n], 1e-12);
  for (const double value : o.fields.at("lowmach.heat_capacity").values) ASSERT_NEAR(value, 1000.0, 1e-9);
}

std::string faultOfTable(const std::string& text) {
  try {
    readStateTable(stateFile(text));
  } catch (const InputError& error) {
    return error.message();
  }
  return "nothing is wrong";
}

TEST(LowmachState, WhatIsNoStateRelationIsASentenceWithItsLine) {
  EXPECT_THAT(faultOfTable("mixture_fraction colour density\n0 1 1\n1 1 1\n"),
              HasSubstr("column \"colour\""));
  EXPECT_THAT(faultOfTable("mixture_fraction\n0\n1\n"), HasSubstr("none \"density\""));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 1\n1 -1\n"), HasSubstr("a density is not above 0"));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 1\n1 -1\n"), HasSubstr("state.txt:3"));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 1\n0 2\n"), HasSubstr("fractions do not ascend"));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 1\n"), HasSubstr("fewer than two mixture fractions"));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 1 2\n"), HasSubstr("not as many numbers"));
  EXPECT_THAT(faultOfTable("mixture_fraction density\n0 one\n"), HasSubstr("no finite number"));
  EXPECT_THAT(faultOfTable("enthalpy mixture_fraction density\n0 0 1\n0 1 1\n1 0 1\n"),
              HasSubstr("last block is too short"));
  EXPECT_THAT(faultOfTable("enthalpy mixture_fraction density\n0 0 1\n0 1 1\n1 0 1\n1 0.5 1\n"),
              HasSubstr("other mixture fractions"));
  EXPECT_THROW(readStateTable("no/such/file"), InputError);
}

TEST(LowmachState, AFlameIsAsHotAsItsFuelMakesIt) {
  const Outcome o = simulate("lowmach/flame").run();

  // T_ad = 300 + q f_st / c_p = 300 + 50e6 * 0.055 / 1375, and 1 over the density goes as T.
  const double hottest = 300.0 + 2000.0;
  const WholeField& f = o.fields.at("mixture_fraction");
  const WholeField& T = o.fields.at("temperature");
  double most = 0.0;
  for (std::size_t n = 0; n < f.values.size(); ++n) {
    const double burnt = f.values[n] < 0.055 ? f.values[n] : 0.055 * (1.0 - f.values[n]) / 0.945;
    ASSERT_NEAR(T.values[n], 300.0 + 2000.0 * burnt / 0.055, 1e-8);
    most = std::max(most, T.values[n]);
  }
  EXPECT_GT(most, 0.85 * hottest);
  EXPECT_LE(most, hottest);
  // The density is conserved, and comes back to that of the state where the flame makes it leave it.
  const WholeField& rho = o.fields.at("density");
  double away = 0.0;
  for (std::size_t n = 0; n < f.values.size(); ++n) {
    const double state = ((1.0 - f.values[n]) / 1.2 + f.values[n] / 0.66) * T.values[n] / 300.0;
    ASSERT_NEAR(rho.values[n] * state, 1.0, 0.25);
    away += std::abs(rho.values[n] * state - 1.0) / static_cast<double>(f.values.size());
  }
  EXPECT_LT(away, 0.02);
  EXPECT_GE(o.end.at("lowmach.min_mixture_fraction"), 0.0);
  EXPECT_LE(o.end.at("lowmach.max_mixture_fraction"), 1.0);
}

/// A thin gas of one temperature between cold walls: what it sends leaves, so T' = -4 T^4 (sigma = 1).
Outcome cooled(double dt, int every) {
  return simulateText(R"deck(
simulation.components = ["lowmach", "rmcrt"]
grid = { cells = [4, 4, 4], patches = [2, 1, 1] }
time = { dt = )deck" + std::to_string(dt) +
                      R"deck(, end = 0.2 }
[lowmach]
density = 2
heat_capacity = 5
initial.temperature = 1
sources = ["-1e9 * rmcrt.divQ"]
[rmcrt]
temperature_from = "temperature"
absorption = 1e-8
stefan_boltzmann = 1
rays = 2
wall_rays = 0
threshold = 1e-12
every = )deck" + std::to_string(every) +
                      "\n")
      .run();
}

TEST(LowmachState, AThinGasCoolsByTheClosedFormToTheFirstOrderInTheTimeBetween) {
  const auto error = [](double dt, int every) {
    return std::abs(cooled(dt, every).fields.at("temperature")({1, 2, 3}) -
                    std::pow(1.0 + 12.0 * 0.2, -1.0 / 3.0));
  };
  const double often = error(0.00125, 4);
  const double rare = error(0.00125, 8);

  EXPECT_LT(rare, 0.03);
  EXPECT_NEAR(rare / often, 2.0, 0.35);
}

/// Mass that arises evenly, of what is there already: all that changes is the velocity, S x over the density.
constexpr const char* kArising = R"deck(
simulation.components = ["lowmach"]
time = { end = 0.5, cfl = 0.4, dt_max = 0.01 }
grid = { cells = [12, 6, 1], patches = [2, 1, 1] }
[lowmach]
mixing.density = [4, 1]
initial.mixture_fraction = 0.25
arising.mixture_fraction = 0.25
mass_source = 3
boundary.x_low.type = "slip"
boundary.y_low.type = "slip"
boundary.y_high.type = "slip"
boundary.x_high.type = "outlet"
exact.velocity.x = "if(t > 0, 3*x/(16/7), 0)"
)deck";

TEST(LowmachState, MassThatArisesLeavesThroughTheOutlet) {
  const Outcome o = simulateText(kArising).run();

  EXPECT_LT(o.end.at("lowmach.velocity_x.error_max"), 1e-8);
  EXPECT_NEAR(o.end.at("lowmach.mass"), 16.0 / 7.0, 1e-8);
  for (const double f : o.fields.at("mixture_fraction").values) ASSERT_EQ(f, 0.25);
}

// Light fluid that arises in heavier one: the flow makes room for both, so the density stays that of the
// mixture.
TEST(LowmachState, WhatArisesMixesAndTheDensityStaysThatOfItsMixture) {
  const Outcome o = simulateText(kArising).set("lowmach.arising.mixture_fraction=1").run();

  const WholeField& f = o.fields.at("mixture_fraction");
  const WholeField& rho = o.fields.at("density");
  ASSERT_GT(f({6, 3, 0}), 0.3);
  for (std::size_t n = 0; n < f.values.size(); ++n)
    ASSERT_NEAR(rho.values[n] * ((1.0 - f.values[n]) / 4.0 + f.values[n]), 1.0, 1e-6);
}

/// Hot mass that arises evenly in a gas: the density times T stays, 600, so all is known: the divergence is
/// S T_S / 600 at all times, and T comes to T_S as 600 T' = S (T_S - T) T says.
Outcome hotMass(const char* dt) {
  return simulateText(kArising)
      .set("lowmach.mixing={ density = [2, 2] }")
      .set("lowmach.reference_temperature=300")
      .set("lowmach.initial.temperature=300")
      .set("lowmach.arising.temperature=500")
      .set("lowmach.exact.velocity.x=\"if(t > 0, 2.5*x, 0)\"")
      .set("lowmach.exact.temperature=\"500/(1 + 2/3*exp(-2.5*t))\"")
      .set(dt)
      .run();
}

TEST(LowmachState, HotMassThatArisesNeedsTheRoomOfItsHeat) {
  const Outcome o = hotMass("time.dt_max=0.01");
  const Outcome halves = hotMass("time.dt_max=0.005");

  EXPECT_LT(o.end.at("lowmach.velocity_x.error_max"), 1e-8);
  EXPECT_NEAR(o.end.at("lowmach.max_density") * o.end.at("lowmach.max_temperature"), 600.0, 1e-5);
  EXPECT_NEAR(o.end.at("lowmach.temperature.error_max") / halves.end.at("lowmach.temperature.error_max"), 4.0,
              0.4);
}

// Where nothing leaves, all of it stays, and what it carries.
TEST(LowmachState, MassThatArisesInAClosedBoxIsCountedExactly) {
  const Outcome o = simulateText(kArising)
                        .set("lowmach.boundary.x_high.type=\"slip\"")
                        .set("lowmach.mass_source=\"0.2*x\"")
                        .set("lowmach.arising.mixture_fraction=1")
                        .set("lowmach.initial.mixture_fraction=\"0.2 + 0.1*y\"")
                        .run();

  const double arisen = 0.2 * 0.5 * o.time;
  EXPECT_NEAR(o.end.at("lowmach.mass") - o.start.at("lowmach.mass"), arisen, 1e-12);
  EXPECT_NEAR(o.end.at("lowmach.mixture_fraction") - o.start.at("lowmach.mixture_fraction"), arisen, 1e-12);
}

// A variable of another component that is 2 everywhere: mass arises by 0.1 of it, and what is added to the
// mixture by 0.05 of it.
TEST(LowmachState, VariablesOfOtherComponentsAreSourcesOfMassAndMixture) {
  const Outcome o = simulateText(kArising)
                        .set("simulation.components=[\"heat\", \"lowmach\"]")
                        .set("heat.conductivity=1")
                        .set("heat.initial=2")
                        .set("lowmach.boundary.x_high.type=\"slip\"")
                        .set("lowmach.mass_source=\"0.2*x\"")
                        .set("lowmach.mass_sources=[\"0.1 * temperature\"]")
                        .set("lowmach.mixture_sources=[\"0.05 * temperature\"]")
                        .set("lowmach.arising.mixture_fraction=1")
                        .run();

  EXPECT_NEAR(o.end.at("lowmach.mass") - o.start.at("lowmach.mass"), (0.1 + 0.2) * o.time, 1e-12);
  EXPECT_NEAR(o.end.at("lowmach.mixture_fraction") - o.start.at("lowmach.mixture_fraction"),
              (0.1 + 0.2 + 0.1) * o.time, 1e-12);
}

TEST(LowmachState, WhatContradictsItselfIsRefusedWithAFix) {
  const auto errorOf = [](const std::string& more) -> std::string {
    try {
      simulateText(stirredBy(more)).run(1);
    } catch (const DeckError& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(errorOf("state = \"flame\"\n"), HasSubstr("needs lowmach.flame.stoichiometric"));
  EXPECT_THAT(errorOf("state = \"table\"\n"), HasSubstr("needs lowmach.state_file"));
  EXPECT_THAT(errorOf("flame.heat = 1\n"), HasSubstr("is of lowmach.state = \"flame\""));
  EXPECT_THAT(errorOf("initial.enthalpy = 1\n"), HasSubstr("heat is carried as temperature"));
  EXPECT_THAT(errorOf("mass_source = 1\n"), HasSubstr("needs a density that varies"));
  EXPECT_THAT(errorOf("mixture_sources = [\"2 a\"]\n"), HasSubstr("give the name of a variable"));
  EXPECT_THAT(errorOf("solid.temperature = 1\n"), HasSubstr("needs lowmach.solid.where"));
}

/// A flame that radiates, in a duct with a tube, with mass that arises and eddies: all at once.
constexpr const char* kBurning = R"deck(
simulation.components = ["lowmach", "rmcrt"]
time = { max_steps = 4, cfl = 0.4 }
grid = { cells = [12, 8, 6], upper = [1.2, 0.8, 0.6], patches = [1, 1, 1] }
[lowmach]
state = "flame"
mixing = { density = [1.2, 0.66] }
reference_temperature = 300
heat_capacity = 1375
flame = { stoichiometric = 0.055, temperature = [300, 320], heat = 50e6, absorption = 0.8 }
viscosity = 1e-3
diffusivity = 1e-3
turbulence = "smagorinsky"
convection = "limited"
initial = { mixture_fraction = "0.04*y", enthalpy = 0 }
sources = ["-rmcrt.divQ"]
mass_source = "0.1*x"
solid.where = "(x - 0.6)^2 + (y - 0.4)^2 < 0.02"
boundary.x_high.type = "outlet"
boundary.x_low = { type = "inlet", velocity = { x = 1, y = "0.3*(z - 0.3)", z = "0.3*(0.4 - y)*cos(3*t)" }, mixture_fraction = "0.2*y" }
[rmcrt]
temperature_from = "temperature"
absorption_from = "lowmach.absorption"
rays = 4
every = 2
solid.where = "(x - 0.6)^2 + (y - 0.4)^2 < 0.02"
)deck";

TEST(LowmachState, HasTheSameBitsForAnyRanksThreadsPatchesAndDevices) {
  for (const char* model : {"lowmach.turbulence=\"smagorinsky\"", "lowmach.turbulence=\"dynamic\""}) {
    const Outcome right = simulateText(kBurning).set(model).run();
    ASSERT_GT(right.end.at("lowmach.max_velocity"), 1.0);
    for (const int ranks : {1, 3}) {
      const Outcome o =
          simulateText(kBurning).set(model).patches({3, 2, 2}).ranks(ranks).threads(ranks % 2).run();
      EXPECT_EQ(firstDifference(right, o), "") << ranks << " ranks";
    }
    EXPECT_EQ(
        firstDifference(right, simulateText(kBurning).set(model).patches({3, 2, 1}).ranks(2).checked().run()),
        "");
    EXPECT_EQ(
        firstDifference(right, simulateText(kBurning).set(model).patches({3, 2, 1}).ranks(2).seed(5).run()),
        "");
    const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
    EXPECT_EQ(
        firstDifference(right, simulateText(kBurning).set(model).patches({3, 2, 1}).devices(devices).run()),
        "");
  }
}

}  // namespace
}  // namespace tessera::test
