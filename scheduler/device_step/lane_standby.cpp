#include "scheduler/device_step/lane_standby.hpp"

#include <utility>

#include "core/transport/step_aside.hpp"

namespace tessera::detail {

LaneStandby::LaneStandby(std::function<void()> serve)
    : serve_(std::move(serve)), thread_([this] { live(); }) {}

LaneStandby::~LaneStandby() {
  state_.store(kLeaving, std::memory_order_seq_cst);
  state_.notify_one();
  thread_.join();
}

void LaneStandby::begin() {
  state_.store(kWanted, std::memory_order_seq_cst);
  state_.notify_one();
}

/// The thread sets `inside_` and then looks at `state_`; this sets `state_` and then looks at `inside_`. All
/// four are seq_cst, so one of the two sees the other.
void LaneStandby::end() {
  state_.store(kIdle, std::memory_order_seq_cst);
  StepAside stepAside;
  while (inside_.load(std::memory_order_seq_cst)) stepAside();
}

void LaneStandby::live() {
  while (true) {
    const int wanted = state_.load(std::memory_order_seq_cst);
    if (wanted == kLeaving) return;
    if (wanted == kIdle) {
      state_.wait(kIdle, std::memory_order_seq_cst);
      continue;
    }
    std::this_thread::sleep_for(kEvery);
    inside_.store(true, std::memory_order_seq_cst);
    if (state_.load(std::memory_order_seq_cst) == kWanted) serve_();
    inside_.store(false, std::memory_order_seq_cst);
  }
}

}  // namespace tessera::detail
