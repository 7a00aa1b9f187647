// Variables with components: each is what a variable of its own would be, bit by bit.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

struct Quantity {
  std::string name;
  std::string lines;       ///< diffusivity and initial values
  std::string conditions;  ///< the tables of its conditions; "NAME" is replaced
};

std::string withName(std::string text, const std::string& name) {
  for (std::size_t at = text.find("NAME"); at != std::string::npos; at = text.find("NAME"))
    text.replace(at, 4, name);
  return text;
}

std::vector<Quantity> threeQuantities() {
  const auto part = [](const std::string& lines) {
    return "[[diffusion.boundary_part]]\ncomponent = \"NAME\"\n" + lines;
  };
  return {{"held", "diffusivity = 1.0\ninitial = \"x*(1 - y) + z\"\n",
           part("side = \"x_low\"\ntype = \"dirichlet\"\nvalue = \"y + 3*t\"\n") +
               part("side = \"y_high\"\ntype = \"neumann\"\nvalue = \"x\"\n")},
          {"inflow", "diffusivity = 0.5\ninitial = \"sin(4*x) + y\"\n",
           part("side = \"x_low\"\ntype = \"given\"\nvalue = \"x + 2*y - t\"\nwithin = \"y < 0.4 + 5*t\"\n") +
               part("side = \"x_low\"\ntype = \"outflow\"\nwithin = \"y > 0.8\"\n") +
               part("side = \"z_high\"\ntype = \"outflow\"\n")},
          {"mirrored", "diffusivity = 0.25\ninitial = \"x*x*z + y\"\naxis = \"x\"\n",
           part("side = \"x_low\"\ntype = \"reflect\"\n") + part("side = \"x_high\"\ntype = \"reflect\"\n")}};
}

/// A deck of these quantities. The first one is in all of them, so that all have the same step.
std::string deckOf(const std::vector<Quantity>& quantities) {
  std::string deck = R"deck(
simulation.components = ["diffusion"]
grid = { lower = [0, 0, 0], upper = [1, 1, 0.5], cells = [12, 10, 8], patches = [2, 2, 1] }
time = { dt = 0.0005, max_steps = 6 }
)deck";
  for (const Quantity& q : quantities)
    deck += "[[diffusion.quantity]]\nname = \"" + q.name + "\"\n" + q.lines;
  for (const Quantity& q : quantities) deck += withName(q.conditions, q.name);
  return deck;
}

std::vector<double> valuesOf(const Outcome& o, const std::string& name) {
  return o.fields.at("diffusion." + name).values;
}

/// Runs of one quantity each, in order.
void expectEachAlone(const Outcome& together) {
  for (const Quantity& q : threeQuantities()) {
    const Outcome alone = simulateText(deckOf({q})).run();
    EXPECT_EQ(valuesOf(together, q.name), valuesOf(alone, q.name)) << q.name;
    EXPECT_EQ(together.end.at("diffusion.total." + q.name), alone.end.at("diffusion.total." + q.name));
  }
}

DeviceOptions emulated(int count) { return firstDevices(DeviceKind::Emulated, count); }

TEST(Diffusion, ThreeComponentsAreThreeVariables) {
  const std::string deck = deckOf(threeQuantities());
  const Outcome together = simulateText(deck).run();
  expectEachAlone(together);
  for (const int ranks : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).threads(2).run()), "");
    EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).checked().run()), "");
    EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).scratch().run()), "");
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).seed(seed).run()), "") << seed;
    EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).devices(emulated(1)).run()), "");
    EXPECT_EQ(firstDifference(together, simulateText(deck).ranks(ranks).devices(emulated(2)).checked().run()),
              "");
  }
}

/// A box between two walls, or twice as long and periodic, with the mirror image in its right half.
std::string boxDeck(bool mirrored) {
  const auto along = [mirrored](const std::string& sign, const std::string& f) {
    std::string there = f;
    for (std::size_t at = there.find('x'); at != std::string::npos; at = there.find('x', at + 5))
      there.replace(at, 1, "(2-x)");
    return mirrored ? "if(x < 1, " + f + ", " + sign + "(" + there + "))" : f;
  };
  std::string deck = "simulation.components = [\"diffusion\"]\n";
  deck += mirrored ? "grid = { upper = [2, 1, 1], cells = [32, 16, 1], periodic = [true, false, false], "
                     "patches = [4, 1, 1] }\n"
                   : "grid = { upper = [1, 1, 1], cells = [16, 16, 1], patches = [2, 1, 1] }\n";
  deck += "time = { dt = 0.0005, max_steps = 40 }\n";
  deck += "[[diffusion.quantity]]\nname = \"u\"\naxis = \"x\"\ndiffusivity = 1.0\ninitial = \"" +
          along("-", "x * (1 + x) * y") + "\"\n";
  deck += "[[diffusion.quantity]]\nname = \"mass\"\ndiffusivity = 0.5\ninitial = \"" +
          along("", "x * x + y * x") + "\"\n";
  deck += "[diffusion.boundary]\ny_low = { type = \"reflect\" }\ny_high = { type = \"reflect\" }\n";
  if (!mirrored) deck += "x_low = { type = \"reflect\" }\nx_high = { type = \"reflect\" }\n";
  return deck;
}

TEST(Diffusion, ABoxOfMirrorsIsHalfOfThePeriodicOne) {
  const Outcome box = simulateText(boxDeck(false)).run();
  const Outcome whole = simulateText(boxDeck(true)).run();
  for (const std::string name : {"diffusion.u", "diffusion.mass"}) {
    const WholeField& half = box.fields.at(name);
    const WholeField& both = whole.fields.at(name);
    std::int64_t differing = 0;
    forEachIndex(half.box, [&](Index x) { differing += half(x) == both(x) ? 0 : 1; });
    EXPECT_EQ(differing, 0) << name;
  }
}

/// What is wrong with a deck, as its user reads it.
std::string faultOf(const std::string& lines) {
  try {
    simulateText(deckOf(threeQuantities()) + lines).run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Diffusion, ConditionsThatCannotBeAreNamed) {
  const std::string part = "[[diffusion.boundary_part]]\n";
  EXPECT_THAT(faultOf(part + "side = \"y_low\"\ntype = \"outflow\"\ncomponent = \"helt\"\n"),
              HasSubstr("there is no component \"helt\"; use one of held, inflow, mirrored"));
  EXPECT_THAT(
      faultOf(part + "side = \"y_low\"\ntype = \"outflow\"\nwithin = \"x > 3\"\n"),
      HasSubstr("\"x > 3\" holds at no cell of the side y_low; give a part of it, or remove this table"));
  EXPECT_THAT(faultOf(part + "side = \"x_low\"\ntype = \"outflow\"\ncomponent = \"held\"\n"),
              HasSubstr("a table above this one holds on all of x_low"));
  EXPECT_THAT(faultOf(part + "side = \"y_low\"\ntype = \"reflect\"\nvalue = 3\n"),
              HasSubstr("\"reflect\" takes no value"));
}

}  // namespace
}  // namespace tessera::test
