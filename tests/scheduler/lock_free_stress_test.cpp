// The lock-free parts under real threads; what it is worth under ThreadSanitizer (preset tsan).
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/lock_free/submissions.hpp"
#include "scheduler/executor/event_count.hpp"
#include "scheduler/executor/spsc_ring.hpp"
#include "scheduler/executor/work_deque.hpp"

namespace tessera::detail {
namespace {

constexpr std::int32_t kItems = 100'000;

TEST(WorkDequeStress, OwnerAndThreeThievesTakeEachItemOnceWithItsData) {
  WorkDeque<64> deque;
  std::vector<int> data(kItems, 0);  // plain: an item that is handed over unordered is a race
  std::vector<int> taken(kItems, 0);
  std::atomic<std::int32_t> left{kItems};
  const auto take = [&](std::int32_t item) {
    if (item == WorkDeque<64>::kNone) return false;
    taken[static_cast<std::size_t>(item)] += data[static_cast<std::size_t>(item)];
    left.fetch_sub(1);
    return true;
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 3; ++t) {
    thieves.emplace_back([&] {
      while (left.load() > 0) {
        if (!take(deque.steal())) std::this_thread::yield();
      }
    });
  }
  for (std::int32_t item = 0; item < kItems; ++item) {
    data[static_cast<std::size_t>(item)] = 1;
    while (!deque.push(item)) take(deque.pop());
    if (item % 3 == 0) take(deque.pop());
  }
  while (left.load() > 0) {
    if (!take(deque.pop())) std::this_thread::yield();
  }
  for (std::thread& thief : thieves) thief.join();
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), kItems);
}

TEST(SpscRingStress, NumbersArriveInOrderWithTheirData) {
  SpscRing<> ring(16);
  std::vector<int> data(kItems, 0);
  std::int32_t wrong = 0;
  std::thread consumer([&] {
    for (std::int32_t next = 0; next < kItems;) {
      ring.drain([&](std::int32_t value) {
        if (value != next || data[static_cast<std::size_t>(value)] != 1) ++wrong;
        ++next;
      });
      std::this_thread::yield();
    }
  });
  for (std::int32_t n = 0; n < kItems; ++n) {
    data[static_cast<std::size_t>(n)] = 1;
    while (!ring.stage(n)) {
      ring.publish();
      std::this_thread::yield();
    }
    if (n % 5 == 0) ring.publish();
  }
  ring.publish();
  consumer.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SubmissionsStress, ThreePushersLoseNothing) {
  constexpr std::int32_t kEach = 20'000;
  Submissions<> submissions(3 * kEach);
  std::vector<int> data(3 * kEach, 0);
  std::int32_t taken = 0;
  std::vector<std::thread> pushers;
  for (std::int32_t p = 0; p < 3; ++p) {
    pushers.emplace_back([&, p] {
      for (std::int32_t n = p * kEach; n < (p + 1) * kEach; ++n) {
        data[static_cast<std::size_t>(n)] = 1;
        submissions.push(n);
      }
    });
  }
  while (taken < 3 * kEach) {
    submissions.takeAll([&](std::int32_t n) { taken += data[static_cast<std::size_t>(n)]++; });
    std::this_thread::yield();
  }
  for (std::thread& pusher : pushers) pusher.join();
  EXPECT_EQ(std::count(data.begin(), data.end(), 2), 3 * kEach);
}

TEST(EventCountStress, TwoThreadsWakeEachOtherInTurn) {
  constexpr int kTurns = 20'000;
  EventCount<> parkings[2];
  std::atomic<int> turn{0};
  const auto player = [&](int me) {
    while (true) {
      const int now = turn.load(std::memory_order_seq_cst);
      if (now >= kTurns) break;
      if (now % 2 == me) {
        turn.store(now + 1, std::memory_order_seq_cst);
        parkings[1 - me].notify();
        continue;
      }
      const auto ticket = parkings[me].prepare();
      if (turn.load(std::memory_order_seq_cst) != now) {
        parkings[me].cancel();
      } else if (now % 7 == 0) {
        parkings[me].sleepFor(ticket, std::chrono::microseconds(3));
      } else {
        parkings[me].sleep(ticket);
      }
    }
  };
  std::thread other([&] { player(1); });
  player(0);
  other.join();
  EXPECT_GE(turn.load(), kTurns);
}

}  // namespace
}  // namespace tessera::detail
