// Every deck's fills on a device, against those on the host.
#include <gtest/gtest.h>

#include "components/component.hpp"
#include "core/transport/loopback_transport.hpp"
#include "scheduler/device/backend/emulated_device.hpp"
#include "tests/components/small_decks.hpp"
#include "tests/scheduler/device/fill_comparison.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/model.hpp"

namespace tessera {
namespace {

class DeckFills : public ::testing::TestWithParam<std::string> {};

TEST_P(DeckFills, HaveTheBitsOfTheHostsFills) {
  const ComponentRegistry registry = builtInComponents();
  test::Simulate deck = test::smallDeck(GetParam());
  deck.patches(test::alongResolvedAxes(GetParam(), {2, 3, 2}));
  checkDeck(deck.deck(), registry).throwIfErrors();
  const Model model(deck.deck(), registry);
  for (const int ranks : {1, 2}) {
    LoopbackWorld world(ranks);
    for (Rank rank = 0; rank < ranks; ++rank) {
      const CompiledGraphs graphs =
          model.compile(rank, ranks, world.transport(rank).tagBound(), {BufferReuse::Off});
      for (std::size_t plan = 0; plan < graphs.plans.size(); ++plan) {
        SCOPED_TRACE(deck.assignments() + ", rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                     ", plan " + std::to_string(plan) + ", seed 17");
        const auto device = makeEmulatedDevice({});
        test::FillComparison both(graphs, plan, world.transport(rank), *device, 17);
        for (const double time : {0.0, 0.125}) {
          both.expectSameFills(time);
          both.expectSameMessages();
          both.promote();
        }
        both.expectCopiesThereAndBack();
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDeck, DeckFills, ::testing::ValuesIn(test::allDecks()),
                         [](const auto& info) { return test::testName(info.param); });

}  // namespace
}  // namespace tessera
