// Ranks that wait for each other in a cycle find it out together.
#include <algorithm>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"
#include "tests/scheduler/ring_of_ranks.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the first rank to give up says, where the ranks that `loses` names drop their message and rank `late`
/// begins its step 3 s after the others.
std::string failureOf(int ranks, int threads, const std::vector<int>& loses, int late = -1) {
  const test::RingOfRanks ring(ranks);
  LoopbackWorld world(ranks);
  std::string page;
  try {
    runRanks(world, [&](Transport& transport) {
      const ExecutorOptions options{.stallSeconds = 0.5};
      const auto executor =
          threads == 0 ? makeInOrderExecutor(options) : makeThreadsExecutor(threads, options);
      const bool isLoser = std::find(loses.begin(), loses.end(), transport.rank()) != loses.end();
      ring.run(transport, *executor, isLoser, [&] {
        if (transport.rank() == late) std::this_thread::sleep_for(std::chrono::seconds(3));
      });
    });
  } catch (const InternalError& error) {
    page = error.message();
  }
  return page;
}

TEST(DeadlockDetector, TwoRanksThatWaitForEachOtherAreNamedWithTheirMessages) {
  for (const int threads : {0, 1, 2}) {
    const std::string page = failureOf(2, threads, {0, 1});
    EXPECT_THAT(page, HasSubstr("these ranks are in a deadlock:"));
    EXPECT_THAT(page, HasSubstr("rank 0 waits for rank 1 (a message of 8 bytes from rank 1"));
    EXPECT_THAT(page, HasSubstr("rank 1 waits for rank 0 (a message of 8 bytes from rank 0"));
  }
}

TEST(DeadlockDetector, ThreeRanksThatWaitForEachOtherAreNamed) {
  for (const int threads : {0, 2}) {
    const std::string page = failureOf(3, threads, {0, 1, 2});
    EXPECT_THAT(page, HasSubstr("these ranks are in a deadlock:"));
    for (const char* wait :
         {"rank 0 waits for rank 1 (", "rank 1 waits for rank 2 (", "rank 2 waits for rank 0 ("})
      EXPECT_THAT(page, HasSubstr(wait));
  }
}

TEST(DeadlockDetector, OneLostMessageIsNoCycle) {
  const std::string page = failureOf(2, 1, {1});
  EXPECT_THAT(page, HasSubstr("waits for another rank"));
  EXPECT_THAT(page, Not(HasSubstr("in a deadlock")));
  EXPECT_THAT(page, Not(HasSubstr("no answer")));
}

TEST(DeadlockDetector, ARankThatDoesNotComeIsNamedWhenTheTimeForAnAnswerIsOver) {
  const std::string page = failureOf(2, 1, {}, /*late=*/1);
  EXPECT_THAT(page, HasSubstr("a message of 8 bytes from rank 1"));
  EXPECT_THAT(page, HasSubstr("no answer from rank 1: it is still working, or blocked elsewhere"));
}

}  // namespace
}  // namespace tessera
