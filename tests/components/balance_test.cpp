// Patches change their ranks while a run goes on, and no bit changes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"
#include "taskgraph/graph_compiler.hpp"
#include "tests/components/several_devices.hpp"
#include "tests/components/simulate.hpp"
#include "tools/simulation/balance/load_balance.hpp"
#include "tools/simulation/model.hpp"

namespace tessera::test {
namespace {

/// The later patches are the dear ones, and the earlier ones at every second look.
double anySeconds(PatchId patch, std::int64_t step) {
  const double ramp = 10.0 + static_cast<double>(patch);
  return step / 2 % 2 == 1 ? ramp : 1.0 / ramp;
}

/// Whatever it costs, every second step.
Simulate restless(const char* deck, const char* cost) {
  return simulate(deck)
      .set("amr.interval=3")
      .set("balance.every=2")
      .set("balance.when='always'")
      .set("balance.memory=0")
      .set(std::string("balance.cost='") + cost + "'")
      .secondsOfPatch(anySeconds);
}

TEST(Balance, NoBitChangesWherePatchesChangeTheirRanksEverySecondStep) {
  for (const char* deck : {"heat/hot_spot", "euler/sedov_three_level", "advection/bump_following"}) {
    SCOPED_TRACE(deck);
    const Outcome right = simulate(deck).set("amr.interval=3").run(7);
    const Outcome three = restless(deck, "measured").ranks(3).run(7);
    EXPECT_EQ(firstDifference(right, three), "");
    EXPECT_GE(three.rebalances, 2);
    const auto curve = [&] { return restless(deck, "measured").set("balance.curve='hilbert'"); };
    EXPECT_EQ(firstDifference(right, curve().set("balance.levels='together'").ranks(4).threads(2).run(7)),
              "");
    EXPECT_EQ(firstDifference(right, curve().ranks(2).seed(5).run(7)), "");
  }
}

TEST(Balance, NoBitChangesOnDevicesEither) {
  const char* deck = "euler/sedov_three_level";
  const Outcome right = simulate(deck).set("amr.interval=3").run(7);
  const DeviceOptions devices = firstDevices(DeviceKind::Emulated, 2);
  const Outcome two = restless(deck, "measured").devices(devices).ranks(2).run(7);
  EXPECT_EQ(firstDifference(right, two), "");
  EXPECT_GE(two.rebalances, 1);
}

TEST(Balance, OneRankHasNothingToChange) {
  EXPECT_EQ(restless("heat/hot_spot", "measured").run(7).rebalances, 0);
}

TEST(Balance, ByCellsAMeshThatStaysKeepsItsRanks) {
  EXPECT_EQ(restless("heat/hot_spot", "cells").ranks(3).run(7).rebalances, 0);
}

/// What a look at the balance leads to where the patches of rank 0 have cost `dear` seconds each since the
/// start, ten steps ago, and those of rank 1 one second.
struct Decision {
  std::optional<RankMap> owners;
  BalanceLook look;
};

Decision decide(double dear, double price) {
  const Model model(simulateText("simulation.components = ['heat']\n[grid]\ncells = [64, 1, 1]\n"
                                 "patches = [16, 1, 1]\n[heat]\nconductivity = 1\ninitial = 'x'\n[time]\n"
                                 "max_steps = 1\n")
                        .deck(),
                    builtInComponents());
  BalanceSettings settings;
  settings.measures = true;
  settings.every = 10;
  std::vector<Decision> decisions(2);
  LoopbackWorld world(2);
  runRanks(world, [&](Transport& transport) {
    const OwnedMesh mesh = model.meshOfDeck(2);
    const CompiledGraphs graphs = model.compile(mesh, transport.rank(), 2, transport.tagBound());
    LoadBalance balance(settings, {1.0}, false, transport, 1);
    balance.standsOn(mesh, 0);
    PatchCosts costs;
    costs.seconds.assign(graphs.ownPatches.size(), transport.rank() == 0 ? dear : 1.0);
    balance.measure(mesh, graphs, costs, 10);
    Decision& mine = decisions[static_cast<std::size_t>(transport.rank())];
    mine.owners = balance.betterOwners(mesh, transport.rank() == 0 ? price : 0.0);
    mine.look = balance.look();
  });
  EXPECT_EQ(decisions[0].owners, decisions[1].owners);
  return decisions[0];
}

// Eight patches of 3 and eight of 1 seconds in ten steps: 24 and 8 seconds, 15 and 17 after the cut.
TEST(Balance, PatchesMoveWhereThatSavesMoreThanItTakes) {
  const Decision cheap = decide(3.0, 6.9);
  ASSERT_TRUE(cheap.owners.has_value());
  EXPECT_EQ(*cheap.owners, (RankMap{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_NEAR(cheap.look.imbalance, 1.5, 1e-12);
  EXPECT_NEAR(cheap.look.nextImbalance, 17.0 / 16.0, 1e-12);
  EXPECT_NEAR(cheap.look.gain, 7.0, 1e-12);
  EXPECT_FALSE(decide(3.0, 7.1).owners.has_value());
}

TEST(Balance, PatchesStayWhereSharesAreEven) { EXPECT_FALSE(decide(1.0, 0.0).owners.has_value()); }

}  // namespace
}  // namespace tessera::test
