#include "scheduler/executor/futex.hpp"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera::detail {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// What the call returns needs no look: every caller reads the word again.
void call(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

}  // namespace

void Futex::wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  call(word, FUTEX_WAIT, expected, nullptr);
}

void Futex::waitFor(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::chrono::microseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec time{};
  time.tv_sec = seconds.count();
  time.tv_nsec = std::chrono::nanoseconds(limit - seconds).count();
  call(word, FUTEX_WAIT, expected, &time);
}

void Futex::wake(const std::atomic<std::uint32_t>& word) { call(word, FUTEX_WAKE, 1, nullptr); }

}  // namespace tessera::detail
