#include "core/transport/step_aside.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

int yields = 0;

void countOne() { ++yields; }

void countOneDear() {
  ++yields;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(StepAside, YieldsEachTimeWhereThatCostsNothing) {
  yields = 0;
  StepAside stepAside(countOne);
  for (int n = 0; n < 100; ++n) stepAside();
  EXPECT_GE(yields, 50);  // all, but for those after a pause of this thread between two readings of the clock
}

TEST(StepAside, DoesNotRepeatAYieldThatTookLongForAWhile) {
  yields = 0;
  StepAside stepAside(countOneDear);
  EXPECT_FALSE(stepAside.crowded());
  const auto begin = StepAside::Clock::now();
  for (int n = 0; n < 100; ++n) stepAside();
  const auto took = StepAside::Clock::now() - begin;

  // One in 50 ms, where each step would have been one.
  EXPECT_LE(yields, 1 + took / std::chrono::milliseconds(50));
  EXPECT_LT(yields, 50);
}

}  // namespace
}  // namespace tessera
