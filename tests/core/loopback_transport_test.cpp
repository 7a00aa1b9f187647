#include "core/transport/loopback_transport.hpp"

#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/transport_claims.hpp"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytesOf(const std::vector<int>& values) {
  return std::as_bytes(std::span(values));
}
std::span<std::byte> writableBytesOf(std::vector<int>& values) {
  return std::as_writable_bytes(std::span(values));
}

template <class Action>
std::string errorOf(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Which of the receives of rank 0 completes when, with one message from each other rank; one thread drives
// all.
std::vector<int> orderOfArrival(std::uint64_t seed) {
  constexpr int kRanks = 6;
  LoopbackWorld world(kRanks, {.delaySeed = seed});
  Transport& t = world.transport(0);
  std::vector<std::vector<int>> received(kRanks, std::vector<int>(1));
  const std::vector<int> sent{1};
  std::vector<std::pair<int, Transport::Request>> open;
  for (int peer = 1; peer < kRanks; ++peer) {
    open.emplace_back(peer, t.receive(peer, 0, writableBytesOf(received[static_cast<std::size_t>(peer)])));
    world.transport(peer).send(0, 0, bytesOf(sent));
  }
  std::vector<int> order;
  while (!open.empty()) {
    std::erase_if(open, [&](const auto& entry) {
      const bool done = t.test(entry.second);
      if (done) order.push_back(entry.first);
      return done;
    });
  }
  return order;
}

// Every claim on 1 to 8 ranks: at once, and with delays and synchronous sends.
class LoopbackClaims : public ::testing::TestWithParam<std::tuple<std::size_t, int, bool>> {};

TEST_P(LoopbackClaims, Hold) {
  const auto [index, ranks, hard] = GetParam();
  const claims::Claim claim = claims::all()[index];
  constexpr std::uint64_t kSeed = 20;
  SCOPED_TRACE(std::string(claim.name) + ", delaySeed " + std::to_string(kSeed));
  LoopbackOptions options{.tagBound = 40, .synchronous = hard};
  if (hard) options.delaySeed = kSeed;
  LoopbackWorld world(ranks, options);
  runRanks(world, claim.run);
  EXPECT_EQ(world.pending(), 0);
}

INSTANTIATE_TEST_SUITE_P(LoopbackTransport, LoopbackClaims,
                         ::testing::Combine(::testing::Range<std::size_t>(0, claims::all().size()),
                                            ::testing::Values(1, 2, 3, 8), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(claims::all()[std::get<0>(info.param)].name) + "On" +
                                  std::to_string(std::get<1>(info.param)) +
                                  (std::get<2>(info.param) ? "RanksDelayed" : "Ranks");
                         });

TEST(LoopbackTransport, ReductionsAreExactOnEveryNumberOfRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    LoopbackWorld world(ranks);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(ranks));
    runRanks(world, [&](Transport& t) {
      std::vector<std::int64_t> value{t.rank() + 1};
      t.wait(t.allReduceSum(value));
      sums[static_cast<std::size_t>(t.rank())] = value.front();
    });
    EXPECT_EQ(sums, std::vector<std::int64_t>(static_cast<std::size_t>(ranks), ranks * (ranks + 1) / 2));
  }
}

TEST(LoopbackTransport, ASeedReordersMessagesOfDifferentPeersAndReplays) {
  const std::vector<int> inOrder{1, 2, 3, 4, 5};
  int reordered = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("delaySeed " + std::to_string(seed));
    const auto order = orderOfArrival(seed);
    EXPECT_THAT(order, ::testing::UnorderedElementsAreArray(inOrder));
    EXPECT_EQ(order, orderOfArrival(seed));
    if (order != inOrder) ++reordered;
  }
  EXPECT_GE(reordered, 5);
}

TEST(LoopbackTransport, ASynchronousSendWaitsForItsReceive) {
  for (const bool synchronous : {false, true}) {
    LoopbackWorld world(2, {.synchronous = synchronous});
    const std::vector<int> sent{42};
    std::vector<int> received{0};
    const auto send = world.transport(0).send(1, 0, bytesOf(sent));
    EXPECT_EQ(world.transport(0).test(send), !synchronous);
    const auto receive = world.transport(1).receive(0, 0, writableBytesOf(received));
    if (synchronous) {
      EXPECT_TRUE(world.transport(0).test(send));
    }
    EXPECT_TRUE(world.transport(1).test(receive));
    EXPECT_THAT(received, ElementsAre(42));
    EXPECT_EQ(world.pending(), 0);
  }
}

TEST(LoopbackTransport, CountsMessagesAndBytesOfEachRank) {
  LoopbackWorld world(2);
  runRanks(world, [](Transport& t) {
    if (t.rank() == 1) return;
    const std::vector<int> sent{1, 2};
    std::vector<int> received(2);
    t.wait(t.send(0, 0, bytesOf(sent)));
    t.wait(t.receive(0, 0, writableBytesOf(received)));
  });
  EXPECT_EQ(world.statistics(0).messages, 1);
  EXPECT_EQ(world.statistics(0).bytes, 8);
  EXPECT_EQ(world.statistics(1).messages, 0);
}

TEST(LoopbackTransport, AFailureOfOneRankReachesAllAndIsTheOneReported) {
  LoopbackWorld world(4);
  std::atomic<int> echoes{0};
  const std::string text = errorOf([&] {
    runRanks(world, [&](Transport& t) {
      if (t.rank() == 2) throw NumericalError("temperature is NaN\n  cell (1, 2, 3)");
      std::vector<int> never(1);
      try {
        if (t.rank() == 0) t.barrier();
        t.wait(t.receive(2, 0, writableBytesOf(never)));
      } catch (const PeerFailed& error) {
        if (std::string(error.what()).find("rank 2: temperature is NaN") != std::string::npos) ++echoes;
        throw;
      }
    });
  });
  EXPECT_THAT(text, HasSubstr("cell (1, 2, 3)"));
  EXPECT_EQ(echoes, 3);
}

TEST(LoopbackTransport, AbortIsReportedWithItsCode) {
  LoopbackWorld world(2);
  try {
    runRanks(world, [](Transport& t) {
      if (t.rank() == 1) t.abort(4);
      t.barrier();
    });
    FAIL() << "the abort was not reported";
  } catch (const RankAborted& error) {
    EXPECT_EQ(error.abortCode, 4);
  }
}

TEST(LoopbackTransport, WaitingForARankThatHasEndedIsAnErrorAndNoHang) {
  std::vector<int> never(1);
  LoopbackWorld receives(2);
  EXPECT_THAT(errorOf([&] {
                runRanks(receives, [&](Transport& t) {
                  if (t.rank() == 0) t.wait(t.receive(1, 0, writableBytesOf(never)));
                });
              }),
              HasSubstr("rank 0 waits in a receive, but rank 1 has ended"));
  LoopbackWorld collective(3);
  EXPECT_THAT(errorOf([&] {
                runRanks(collective, [](Transport& t) {
                  if (t.rank() != 1) t.barrier();
                });
              }),
              HasSubstr("in a barrier, but rank 1 has ended"));
}

TEST(LoopbackTransport, DifferentCollectivesOnTwoRanksAreAnError) {
  LoopbackWorld world(2);
  EXPECT_THAT(errorOf([&] {
                runRanks(world, [](Transport& t) {
                  std::vector<double> values(t.rank() == 0 ? 2 : 3);
                  t.wait(t.allReduceMin(values));
                });
              }),
              HasSubstr("calls min of 3 values"));
}

TEST(LoopbackTransport, AMessageLeftBehindIsAnErrorAtTheEnd) {
  LoopbackWorld world(2);
  const std::string text = errorOf([&] {
    runRanks(world, [](Transport& t) {
      const std::vector<int> sent{1};
      if (t.rank() == 0) t.wait(t.send(1, 6, bytesOf(sent)));
    });
  });
  EXPECT_THAT(text, HasSubstr("from rank 0 to rank 1, tag 6, 4 bytes: sent, never received"));
}

TEST(LoopbackTransport, ChangingTheBytesOfAPendingSendIsFound) {
  LoopbackWorld world(1);
  Transport& t = world.transport(0);
  std::vector<int> sent{1};
  const auto send = t.send(0, 0, bytesOf(sent));
  sent[0] = 2;
  EXPECT_THAT(errorOf([&] { t.wait(send); }), HasSubstr("changed before its send was complete"));
}

TEST(LoopbackTransport, TouchingTheBufferOfAPendingReceiveIsFound) {
  LoopbackWorld world(1);
  Transport& t = world.transport(0);
  const std::vector<int> sent{1};
  std::vector<int> received(1);
  const auto receive = t.receive(0, 0, writableBytesOf(received));
  t.wait(t.send(0, 0, bytesOf(sent)));
  received[0] = 2;
  EXPECT_THAT(errorOf([&] { t.wait(receive); }), HasSubstr("written to before the message was there"));
}

TEST(LoopbackTransport, ASecondThreadInsideOneRankIsFound) {
  LoopbackWorld world(2);
  std::vector<int> received(1);
  const auto receive = world.transport(0).receive(1, 0, writableBytesOf(received));
  std::atomic<bool> found{false};
  const auto entersAlone = [&](const auto& call) {
    const std::string text = errorOf(call);
    if (text.find("two threads of one rank") != std::string::npos) found = true;
    return text.empty();
  };

  std::thread other([&] {
    while (!entersAlone([&] { world.transport(0).barrier(); })) std::this_thread::yield();
  });
  while (!found) entersAlone([&] { world.transport(0).test(receive); });
  world.transport(1).barrier();
  other.join();
}

}  // namespace
}  // namespace tessera
