#include "tools/bench/replay/replay_system.hpp"

#include <chrono>
#include <thread>

#include "tools/bench/cpu_clock.hpp"

namespace tessera::bench {

void letOthersRest() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

ReplayTime timeReplay(ReplaySystem& system) {
  system.enter();
  const CpuClock clock;
  const double cpu = clock.seconds();
  const auto start = std::chrono::steady_clock::now();
  system.replay();
  ReplayTime time;
  time.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  time.cpu = clock.seconds() - cpu;
  system.leave();
  return time;
}

}  // namespace tessera::bench
