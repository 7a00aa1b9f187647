#pragma once

#include <atomic>

#include "core/transport/step_aside.hpp"

namespace tessera::detail {

/// Lets one thread at a time call the devices of a rank, where launches of each touch what the others keep.
/// No lock that a thread could wait for inside `serve`: the virtual executor has many workers in one thread.
///
///   const DeviceTurn::Held held(turn, DeviceTurn::IfFree);    // `turn` may be null: nobody else can call
///   if (held) lane.serve(...);                                // else another thread does
class DeviceTurn {
 public:
  enum Claim { IfFree, Wait };

  /// Of the calling thread, until it ends.
  class Held {
   public:
    Held(DeviceTurn* turn, Claim claim) : turn_(turn) {
      if (turn_ == nullptr) return;
      StepAside stepAside;
      while (turn_->isTaken_.exchange(true, std::memory_order_acquire)) {
        if (claim == IfFree) {
          isHeld_ = false;
          return;
        }
        stepAside();
      }
    }
    ~Held() {
      if (turn_ != nullptr && isHeld_) turn_->isTaken_.store(false, std::memory_order_release);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    explicit operator bool() const { return isHeld_; }

   private:
    DeviceTurn* turn_;
    bool isHeld_ = true;
  };

 private:
  std::atomic<bool> isTaken_{false};
};

}  // namespace tessera::detail
