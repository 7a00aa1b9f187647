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
  ASSERT_TRUE(status.claimCopy(space));
  if (to == SpaceState::CopyingIn) return;
  status.finishCopy(space);
  if (to == SpaceState::Valid) return;
  ASSERT_TRUE(status.claimGather(space));
  if (to == SpaceState::GatheringHalo) return;
  status.finishGather(space);
}

constexpr SpaceState kStates[] = {SpaceState::None,         SpaceState::Allocating, SpaceState::Allocated,
                                  SpaceState::CopyingIn,    SpaceState::Valid,      SpaceState::GatheringHalo,
                                  SpaceState::ValidWithHalo};

/// What a call does in each state: F a fault, - refused, or the letter of the state that it leads to.
std::string outcomes(const std::function<bool(Status&)>& call) {
  const std::string letters = "NaAcVgH";
  std::string text;
  for (const SpaceState from : kStates) {
    Status status;
    bring(status, deviceSlot(1), from);
    try {
      const bool done = call(status);
      text += done ? letters[static_cast<std::size_t>(status.state(deviceSlot(1)))] : '-';
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
  // None, allocating, Allocated, copying in, Valid, gathering, valid with Halo
  EXPECT_EQ(outcomes([&](Status& w) { return w.claimAllocation(s); }), "a------");
  EXPECT_EQ(done(&Status::finishAllocation), "FAFFFFF");
  EXPECT_EQ(done(&Status::abandonAllocation), "FNFFFFF");
  EXPECT_EQ(outcomes([&](Status& w) { return w.claimCopy(s); }), "FFc----");
  EXPECT_EQ(done(&Status::finishCopy), "FFFVFFF");
  EXPECT_EQ(done(&Status::markValid), "FFVFFFF");
  EXPECT_EQ(outcomes([&](Status& w) { return w.claimGather(s); }), "FFFFg--");
  EXPECT_EQ(done(&Status::finishGather), "FFFFFHF");
  EXPECT_EQ(done(&Status::outdateHalo), "FFFFFFV");
  EXPECT_EQ(done(&Status::outdate), "FFFFAFA");
  EXPECT_EQ(done(&Status::wrote), "FFVFVFV");
  EXPECT_EQ(done(&Status::release), "FFNFFFF");
}

TEST(Status, WhatIsWrittenInOneSpaceIsOldInAllOthers) {
  // None, allocating, Allocated, copying in, Valid, gathering, valid with Halo
  const std::string letters = "NaAcVgH";
  std::string others;
  for (const SpaceState before : kStates) {
    Status status;
    bring(status, kHost, SpaceState::Valid);
    bring(status, deviceSlot(0), before);
    try {
      status.wrote(kHost);
      EXPECT_EQ(status.state(kHost), SpaceState::Valid);
      others += letters[static_cast<std::size_t>(status.state(deviceSlot(0)))];
    } catch (const InternalError&) {
      others += 'F';
    }
  }
  EXPECT_EQ(others, "NaAFAFA");
}

TEST(Status, SharesAreCountedDownToAlone) {
  Status status;
  EXPECT_THROW(static_cast<void>(status.leave()), InternalError);
  EXPECT_THROW(status.finishMerge(2), InternalError);
  ASSERT_TRUE(status.claimMerge());
  EXPECT_FALSE(status.claimMerge());
  EXPECT_THROW(status.finishMerge(1), InternalError);
  EXPECT_THROW(status.finishMerge(65536), InternalError);
  status.finishMerge(65535);
  EXPECT_FALSE(status.claimMerge());
  for (int n = 65535; n > 1; --n) {
    ASSERT_EQ(status.shares(), n);
    ASSERT_FALSE(status.leave());
  }
  EXPECT_TRUE(status.leave());
  EXPECT_EQ(status.mergeState(), MergeState::Alone);
}

TEST(Status, ASpaceThatIsNotThereIsAFault) {
  Status status;
  EXPECT_THROW(static_cast<void>(status.state(deviceSlot(kDeviceSlots))), InternalError);
}

/// Under ThreadSanitizer this also proves that the word orders the plain data behind it.
TEST(StatusStress, ThreadsMergeGatherAndLeaveManyTimes) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  struct Round {
    Status status;
    std::vector<int> owned;
    std::vector<int> halo;
  };
  std::vector<Round> rounds(kRounds);
  std::atomic<int> last{0};
  std::atomic<int> otherWork{0};
  const auto work = [&](int me) {
    for (Round& r : rounds) {
      if (r.status.claimMerge()) {
        ASSERT_TRUE(r.status.claimAllocation(kHost));
        r.owned.assign(8, 7);
        r.halo.assign(8, 0);
        r.status.finishAllocation(kHost);
        r.status.markValid(kHost);
        r.status.finishMerge(kThreads);
      }
      while (r.status.mergeState() != MergeState::Merged) otherWork.fetch_add(1, std::memory_order_relaxed);
      if (r.status.claimGather(kHost)) {
        for (int& x : r.halo) x = r.owned[0] + 1;
        r.status.finishGather(kHost);
      }
      while (!r.status.hasHalo(kHost)) otherWork.fetch_add(1, std::memory_order_relaxed);
      ASSERT_EQ(r.halo[static_cast<std::size_t>(me)], 8);
      if (!r.status.leave()) continue;
      last.fetch_add(1, std::memory_order_relaxed);
      r.halo.assign(8, -1);  // the last one out may change what the others have read
      r.owned.clear();
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(last.load(), kRounds);
}

}  // namespace
}  // namespace tessera
