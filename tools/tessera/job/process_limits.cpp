#include "tools/tessera/job/process_limits.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/simulation/stop_requests.hpp"

namespace tessera {
namespace {

constexpr rlim_t kKilobyte = 1024;
constexpr rlim_t kStack = 1024 * kKilobyte;
constexpr rlim_t kUsualStack = 8192 * kKilobyte;
constexpr rlim_t kData = 40960 * kKilobyte;
constexpr rlim_t kFiles = 24;

void keepStandardStreams() {
  for (int n = STDIN_FILENO; n <= STDERR_FILENO; ++n) {
    if (::fcntl(n, F_GETFD) < 0) ::open("/dev/null", n == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

/// The limit after an attempt to raise it to `wanted`.
rlim_t raised(decltype(RLIMIT_STACK) which, rlim_t wanted) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return RLIM_INFINITY;
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(which, &limit);
  return limit.rlim_cur;
}

[[noreturn]] void tooLow(const std::string& what, rlim_t found, rlim_t needed, const std::string& fix) {
  throw InternalError(Message("the limit of " + what + " is too low for this program")
                          .line("found  ", found)
                          .line("needs  ", needed)
                          .line("fix    ", fix)
                          .text());
}

/// Threads take their size from what the limit was when the process began.
void giveThreadsThatStack(rlim_t bytes) {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t now = 0;
  pthread_attr_getstacksize(&attributes, &now);
  if (now < bytes) {
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

void settleProcess() {
  keepStandardStreams();
  const rlim_t stack = raised(RLIMIT_STACK, kUsualStack);
  if (stack < kStack) tooLow("the stack, in kB,", stack / kKilobyte, kStack / kKilobyte, "ulimit -s 8192");
  if (stack != RLIM_INFINITY) giveThreadsThatStack(std::min(stack, kUsualStack));
  const rlim_t data = raised(RLIMIT_DATA, kData);
  if (data < kData) tooLow("data, in kB,", data / kKilobyte, kData / kKilobyte, "ulimit -d unlimited");
  const rlim_t files = raised(RLIMIT_NOFILE, 4096);
  if (files < kFiles) tooLow("open files", files, kFiles, "ulimit -n 1024");
}

void holdStopSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : stopSignals()) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

void requirePrinted() {
  errno = 0;
  std::cout.flush();
  if (std::cout.good()) return;
  const std::string why = errno == 0 ? "it was refused" : errorText(errno);
  throw OutputError(Message("standard output could not be written: " + why)
                        .line("fix  free some space, or send it to another place")
                        .text());
}

}  // namespace tessera
