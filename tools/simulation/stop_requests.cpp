#include "tools/simulation/stop_requests.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <ctime>
#include <signal.h>

#include "core/text/error.hpp"
#include "tools/simulation/forced_end.hpp"
#include "tools/simulation/run_folder/job_note.hpp"

namespace tessera {
namespace {

// A handler can reach nothing but what has static storage; these and those of forced_end.cpp are the only
// such variables of the program.
std::atomic<int> signalSeen{0};
std::atomic<std::int64_t> signalSeenAt{0};
std::atomic<bool> requestAnswered{false};
static_assert(std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may use lock-free atomics only");

constexpr std::array kStopSignals{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
constexpr std::int64_t kSameSignalMs = 1000;  ///< a launcher and a terminal may both deliver the same Ctrl-C

std::int64_t nowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void onSignal(int number) {
  if (signalSeen.load() == 0) {
    signalSeenAt.store(nowMs());
    signalSeen.store(number);
    announceStop();
  } else if (nowMs() - signalSeenAt.load() >= kSameSignalMs && !requestAnswered.load()) {
    endAtOnce(number);
  }
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

StopReason reasonOf(int signal) {
  switch (signal) {
    case SIGINT:
      return StopReason::Interrupt;
    case SIGHUP:
      return StopReason::Hangup;
    case SIGUSR1:
      return StopReason::User1;
    case SIGUSR2:
      return StopReason::User2;
    case SIGXCPU:
      return StopReason::CpuTime;
    default:
      return StopReason::Terminate;
  }
}

[[noreturn]] void badDuration(std::string_view text) {
  throw UsageError(
      Message("\"" + std::string(text) + "\" is not a length of time")
          .line("fix  write seconds (90), units (1h30m, 15m, 45s) or hours:minutes:seconds (01:30:00)")
          .text());
}

double numberAt(std::string_view& rest, std::string_view whole) {
  double value = 0.0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0.0 && value < 1e9)) badDuration(whole);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

}  // namespace

std::span<const int> stopSignals() { return kStopSignals; }

std::string asText(StopReason reason) {
  switch (reason) {
    case StopReason::None:
      return "not stopped";
    case StopReason::StopFile:
      return "stopped by the file `stop` in the run folder";
    case StopReason::WallTime:
      return "stopped by the limit of wall time (--wall)";
    case StopReason::StarterGone:
      return "stopped because the process that started the job has gone";
    case StopReason::CpuTime:
      return "stopped by SIGXCPU";
    case StopReason::User1:
      return "stopped by SIGUSR1";
    case StopReason::User2:
      return "stopped by SIGUSR2";
    case StopReason::Hangup:
      return "stopped by SIGHUP";
    case StopReason::Interrupt:
      return "stopped by SIGINT";
    case StopReason::Terminate:
      return "stopped by SIGTERM";
  }
  return "stopped";
}

StopRequests::StopRequests(std::optional<double> wallSeconds)
    : start_(Clock::now()), wallSeconds_(wallSeconds) {
  signalSeen.store(0);
  requestAnswered.store(false);
  listen();
}

StopRequests::~StopRequests() {
  for (const int number : kStopSignals) handle(number, SIG_DFL);
}

void StopRequests::listen() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kStopSignals) {
    handle(number, onSignal);
    sigaddset(&set, number);
  }
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void StopRequests::expect(double stepSeconds, double checkpointSeconds) {
  reserve_ = std::max(reserve_, 2.0 * stepSeconds + checkpointSeconds);
}

StopReason StopRequests::look() {
  StopReason reason = StopReason::None;
  const auto now = Clock::now();
  if (folder_ != nullptr && (!lastLook_ || now - *lastLook_ >= std::chrono::seconds(1))) {
    lastLook_ = now;
    fileSeen_ = fileSeen_ || folder_->has("stop");
    starterGone_ = starterGone_ || jobStarterIsGone();
  }
  if (fileSeen_) reason = StopReason::StopFile;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (wallSeconds_ && elapsed + reserve_ >= *wallSeconds_) reason = StopReason::WallTime;
  if (starterGone_) reason = StopReason::StarterGone;
  const int number = signalSeen.load();
  return number == 0 ? reason : reasonOf(number);
}

void StopRequests::answered() {
  requestAnswered.store(true);
  if (folder_ != nullptr) folder_->remove("stop");
  fileSeen_ = false;
}

double parseDuration(std::string_view text) {
  std::string_view rest = text;
  double seconds = numberAt(rest, text);
  if (rest.empty()) return seconds;
  if (rest.front() == ':') {
    while (!rest.empty()) {
      if (rest.front() != ':') badDuration(text);
      rest.remove_prefix(1);
      seconds = 60.0 * seconds + numberAt(rest, text);
    }
    return seconds;
  }
  double total = 0.0;
  double largestUnit = 1e9;
  for (double value = seconds;; value = numberAt(rest, text)) {
    const char letter = rest.empty() ? '?' : rest.front();
    const double unit = letter == 'd'   ? 86400.0
                        : letter == 'h' ? 3600.0
                        : letter == 'm' ? 60.0
                        : letter == 's' ? 1.0
                                        : 0.0;
    if (unit == 0.0 || unit >= largestUnit) badDuration(text);
    largestUnit = unit;
    total += value * unit;
    rest.remove_prefix(1);
    if (rest.empty()) return total;
  }
}

}  // namespace tessera
