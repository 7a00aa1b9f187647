#include "scheduler/device_step/device_turn.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::detail {
namespace {

TEST(DeviceTurn, WhoFindsItTakenGoesOnWithoutIt) {
  DeviceTurn turn;
  {
    const DeviceTurn::Held first(&turn, DeviceTurn::IfFree);
    const DeviceTurn::Held second(&turn, DeviceTurn::IfFree);
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
  }
  const DeviceTurn::Held third(&turn, DeviceTurn::IfFree);
  EXPECT_TRUE(third) << "the second has not given it back for the first, nor kept it";
}

TEST(DeviceTurn, WhereThereIsNoneEverybodyHasIt) {
  const DeviceTurn::Held first(nullptr, DeviceTurn::Wait);
  const DeviceTurn::Held second(nullptr, DeviceTurn::IfFree);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(DeviceTurn, OneThreadAtATimeHasIt) {
  DeviceTurn turn;
  int count = 0;
  const auto add = [&] {
    for (int n = 0; n < 2000; ++n) {
      const DeviceTurn::Held held(&turn, DeviceTurn::Wait);
      ++count;
    }
  };
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) threads.emplace_back(add);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 6000);
}

}  // namespace
}  // namespace tessera::detail
