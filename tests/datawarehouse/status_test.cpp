#include "datawarehouse/status.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera {
namespace {

void bring(Status& status, MemorySpace space, SpaceState to) {
  if (to == SpaceState::None) return;
  ASSERT_TRUE(status.claimAllocation(space));
  if (to == SpaceState::Allocating) return;
  status.finishAllocation(space);
  if (to == SpaceState::Allocated) return;
  status.markValid(space);
}

constexpr SpaceState kStates[] = {SpaceState::None, SpaceState::Allocating, SpaceState::Allocated,
                                  SpaceState::Valid};
constexpr char kLetters[] = "NaAV";

/// What a call does in each state: F a fault, - refused, or the letter of the state that it leads to.
std::string outcomes(const std::function<bool(Status&)>& call) {
  std::string text;
  for (const SpaceState from : kStates) {
    Status status;
    bring(status, deviceSlot(1), from);
    try {
      const bool done = call(status);
      text += done ? kLetters[static_cast<std::size_t>(status.state(deviceSlot(1)))] : '-';
    } catch (const InternalError&) {
      EXPECT_EQ(status.state(deviceSlot(1)), from);
      text += 'F';
    }
    EXPECT_EQ(status.state(kHost), SpaceState::None) << "another space has changed";
  }
  return text;
}

TEST(Status, EveryCallInEveryStateDoesWhatTheTableSays) {
  const MemorySpace s = deviceSlot(1);
  const auto done = [&](void (Status::*call)(MemorySpace)) {
    return outcomes([=](Status& status) { return (status.*call)(s), true; });
  };
  // None, allocating, Allocated, Valid
  EXPECT_EQ(outcomes([&](Status& w) { return w.claimAllocation(s); }), "a---");
  EXPECT_EQ(done(&Status::finishAllocation), "FAFF");
  EXPECT_EQ(done(&Status::abandonAllocation), "FNFF");
  EXPECT_EQ(done(&Status::markValid), "FFVF");
  EXPECT_EQ(done(&Status::wrote), "FFVV");
  EXPECT_EQ(done(&Status::release), "FFNN");
}

TEST(Status, WhatIsWrittenInOneSpaceIsOldInAllOthers) {
  std::string others;
  for (const SpaceState before : kStates) {
    Status status;
    bring(status, kHost, SpaceState::Valid);
    bring(status, deviceSlot(0), before);
    status.wrote(kHost);
    EXPECT_EQ(status.state(kHost), SpaceState::Valid);
    others += kLetters[static_cast<std::size_t>(status.state(deviceSlot(0)))];
  }
  EXPECT_EQ(others, "NaAA");
}

TEST(Status, ASpaceThatIsNotThereIsAFault) {
  Status status;
  EXPECT_THROW(static_cast<void>(status.state(deviceSlot(kDeviceSlots))), InternalError);
}

/// Under ThreadSanitizer this also proves that the word orders the plain data behind it.
TEST(StatusStress, ThreadsAllocateManyTimesAndEachFindsWhatTheWinnerMade) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  struct Round {
    Status status;
    std::vector<int> memory;
  };
  std::vector<Round> rounds(kRounds);
  std::atomic<int> winners{0};
  std::atomic<int> otherWork{0};
  const auto work = [&](int me) {
    for (Round& r : rounds) {
      if (r.status.claimAllocation(kHost)) {
        winners.fetch_add(1, std::memory_order_relaxed);
        r.memory.assign(8, 7);
        r.status.finishAllocation(kHost);
        r.status.markValid(kHost);
      }
      while (r.status.state(kHost) != SpaceState::Valid) otherWork.fetch_add(1, std::memory_order_relaxed);
      ASSERT_EQ(r.memory[static_cast<std::size_t>(me)], 7);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(winners.load(), kRounds);
}

}  // namespace
}  // namespace tessera
