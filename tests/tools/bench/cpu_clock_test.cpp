#include "tools/bench/cpu_clock.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

TEST(CpuClock, CountsTheTimeOfAnotherThreadAtOnce) {
  std::atomic<bool> stop = false;
  std::atomic<long> turns = 0;
  std::thread other([&] {
    while (!stop) ++turns;
  });
  const CpuClock clock;
  timespec otherBefore{};
  timespec otherAfter{};
  clockid_t otherClock{};
  pthread_getcpuclockid(other.native_handle(), &otherClock);

  // Half a millisecond of the other thread, well below the tick of the system's clock.
  clock_gettime(otherClock, &otherBefore);
  const double before = clock.seconds();
  double spent = 0.0;
  while (spent < 0.0005) {
    clock_gettime(otherClock, &otherAfter);
    spent = static_cast<double>(otherAfter.tv_sec - otherBefore.tv_sec) +
            1e-9 * static_cast<double>(otherAfter.tv_nsec - otherBefore.tv_nsec);
  }
  const double after = clock.seconds();
  stop = true;
  other.join();

  EXPECT_GE(after - before, 0.0004);
}

}  // namespace
}  // namespace tessera::bench
