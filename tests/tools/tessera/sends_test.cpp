#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tools/simulation/model.hpp"
#include "tools/simulation/simulation.hpp"

namespace tessera {
namespace {

/// Sixteen patches on four ranks, each with several neighbours.
constexpr const char* kDeck =
    "[simulation]\ncomponents = [\"heat\"]\n[grid]\ncells = [16, 16, 1]\npatch_size = [4, 4, 1]\n"
    "periodic = [true, true, false]\n[time]\nmax_steps = 3\n[heat]\nconductivity = 1\ninitial = \"x\"\n";

std::int64_t mostSendsAtOnce(SendLimit sends) {
  LoopbackWorld world(4, {.delaySeed = 3});
  runRanks(world, [&](Transport& transport) {
    const Deck deck = Deck::fromText(kDeck, "test");
    const ComponentRegistry registry = builtInComponents();
    SimulationOptions options;
    options.executor = ExecutorKind::InOrder;
    options.sends = sends;
    Simulation simulation(deck, registry, transport, options);
    RunListener nobody;
    simulation.run(nobody);
  });
  std::int64_t most = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    most = std::max(most, world.statistics(rank).mostSendsAtOnce);
  }
  return most;
}

TEST(Sends, ASimulationHasAsManyOnTheirWayAsItsLimitsAllow) {
  EXPECT_GE(mostSendsAtOnce({}), 2);
  EXPECT_EQ(mostSendsAtOnce({.messages = 1}), 1);
  EXPECT_EQ(mostSendsAtOnce({.bytes = 1}), 1) << "a message beyond the limit goes alone";
}

}  // namespace
}  // namespace tessera
