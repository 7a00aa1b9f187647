#pragma once

#include <atomic>
#include <string>

#include "core/text/error.hpp"

namespace tessera::detail {

/// Finds two threads inside one object that allows one at a time. It never waits: the second one throws.
class SingleThreadGate {
 public:
  /// Holds the gate from construction to destruction; throws InternalError if another thread holds it.
  class Pass {
   public:
    Pass(SingleThreadGate& gate, int rank) : gate_(gate) {
      if (gate_.inside_.exchange(true, std::memory_order_acquire)) reportSecondThread(rank);
    }
    ~Pass() { gate_.inside_.store(false, std::memory_order_release); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    SingleThreadGate& gate_;
  };

 private:
  [[noreturn]] static void reportSecondThread(int rank) {
    throw InternalError(Message("two threads of one rank are inside its transport")
                            .line("rank ", rank)
                            .line("fix  let one thread at a time call the transport (the message pump does)")
                            .text());
  }
  std::atomic<bool> inside_{false};
};

}  // namespace tessera::detail
