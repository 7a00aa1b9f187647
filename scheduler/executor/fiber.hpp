#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace tessera::detail {

/// A function on a stack of its own, which takes turns with its owner on one thread.
///
///   Fiber fiber([&] { ...; fiber.leave(); ... });
///   while (!fiber.ended()) fiber.enter();
///
/// Neither a lock may be held nor a thread changed across `leave`. An exception may be in flight: each side
/// has its own. The sanitizers are told of every change of stacks.
class Fiber {
 public:
  /// `body` throws nothing; it begins at the first `enter`.
  explicit Fiber(std::function<void()> body);
  /// Not to be called between the first `enter` and the end of `body`.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Continues `body` until it leaves or ends. Called by the owner.
  void enter();
  /// Returns to the owner until it enters again. Called inside `body`.
  void leave();
  bool ended() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::detail
