#include "tools/bench/cpu_clock.hpp"

#include <filesystem>
#include <string>

namespace tessera::bench {
namespace {

/// As pthread_getcpuclockid has it, which wants a handle and not the number that the system lists.
clockid_t clockOfThread(int thread) {
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | 6U);
}

double read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

CpuClock::CpuClock() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads_.push_back(clockOfThread(std::stoi(entry.path().filename().string())));
}

double CpuClock::seconds() const {
  for (const clockid_t thread : threads_) read(thread);
  return read(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace tessera::bench
