#include "scheduler/executor/fiber.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace tessera::detail {
namespace {

TEST(Fiber, GoesOnWhereItLeft) {
  std::string text;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    for (int n = 0; n < 3; ++n) {
      text += std::to_string(n);
      self->leave();
    }
    text += "e";
  });
  self = &fiber;

  while (!fiber.ended()) {
    text += "-";
    fiber.enter();
  }

  EXPECT_EQ(text, "-0-1-2-e");
  EXPECT_THROW(fiber.enter(), InternalError);
}

TEST(Fiber, NeedNeverBegin) {
  bool ran = false;
  {
    const Fiber fiber([&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

/// Each leaves inside its handler, so that the handlers end in another order than they began.
TEST(Fiber, HasExceptionsOfItsOwn) {
  std::vector<std::string> caught(2);
  std::vector<Fiber*> fibers;
  const auto body = [&](std::size_t n) {
    try {
      throw std::runtime_error("of fiber " + std::to_string(n));
    } catch (const std::exception&) {
      fibers[n]->leave();
      try {
        std::rethrow_exception(std::current_exception());
      } catch (const std::exception& error) {
        caught[n] = error.what();
      }
    }
  };
  Fiber first([&] { body(0); });
  Fiber second([&] { body(1); });
  fibers = {&first, &second};

  for (int round = 0; round < 2; ++round) {
    first.enter();
    EXPECT_EQ(std::current_exception(), nullptr);
    second.enter();
  }

  EXPECT_EQ(caught, (std::vector<std::string>{"of fiber 0", "of fiber 1"}));
}

/// Touches `depth` KiB of stack, one frame after the other.
int dig(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : dig(depth - 1) + 1;
}

TEST(Fiber, HasRoomForDeepCalls) {
  int depth = 0;
  Fiber fiber([&] { depth = dig(2000); });
  fiber.enter();
  EXPECT_EQ(depth, 2000);
}

}  // namespace
}  // namespace tessera::detail
