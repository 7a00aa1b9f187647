#include "tools/tessera/job/job_launcher.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <map>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/forced_end.hpp"
#include "tools/simulation/stop_requests.hpp"

namespace tessera {
namespace {

constexpr int kCannotStart = 127;
constexpr std::chrono::milliseconds kSameSignal{1000};  ///< a terminal and a batch system may both deliver it
constexpr std::chrono::seconds kToEnd{10};              ///< after a second signal, before all are killed
constexpr std::chrono::seconds kToStart{300};           ///< until the ranks are there
constexpr std::chrono::seconds kAfterLastRank{60};      ///< until the launcher ends, once all ranks have
constexpr std::chrono::seconds kOrphans{600};           ///< for ranks without a launcher to stop
constexpr std::chrono::milliseconds kBetweenLooks{250};
constexpr std::size_t kChunk = 4096;  ///< a pipe that can be written at all takes so much

sigset_t stopSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : stopSignals()) sigaddset(&set, number);
  return set;
}

std::vector<pid_t> childrenOf(pid_t process) {
  std::vector<pid_t> children;
  const std::string number = std::to_string(process);
  std::ifstream in("/proc/" + number + "/task/" + number + "/children");
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

/// Of the stop signals those that wait for a process which holds them back.
std::vector<int> pendingOf(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  unsigned long long pending = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("SigPnd:", 0) != 0 && line.rfind("ShdPnd:", 0) != 0) continue;
    pending |= std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  std::vector<int> numbers;
  for (const int number : stopSignals()) {
    if ((pending >> (number - 1) & 1U) != 0) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

JobLauncher::JobLauncher(std::vector<std::string> arguments, int ranks, const JobNote& note)
    : ranks_(ranks), note_(note) {
  std::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t stop = stopSet();
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  start(std::move(words));
  signals_ = FileHandle(::signalfd(-1, &stop, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) throw InternalError("signals cannot be watched: " + errorText(errno));
}

/// In a process group of its own: what a terminal sends comes to this process alone.
void JobLauncher::start(std::vector<char*> arguments) {
  std::array<FileHandle, 2> ends;
  for (std::size_t n = 0; n < streams_.size(); ++n) {
    int pair[2];
    if (::pipe2(pair, O_CLOEXEC) != 0)
      throw InternalError("no pipe can be made for the ranks: " + errorText(errno));
    streams_[n].from = FileHandle(pair[0]);
    streams_[n].to = static_cast<int>(n) + STDOUT_FILENO;
    ends[n] = FileHandle(pair[1]);
  }
  launcher_ = ::fork();
  if (launcher_ < 0)
    throw InternalError(std::string("cannot start ") + arguments[0] + ": " + errorText(errno));
  if (launcher_ > 0) return;
  ::setpgid(0, 0);
  for (const int number : {SIGTTIN, SIGTTOU, SIGTSTP}) std::signal(number, SIG_IGN);
  std::signal(SIGPIPE, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  for (std::size_t n = 0; n < ends.size(); ++n) ::dup2(ends[n].get(), streams_[n].to);
  ::execvp(arguments[0], arguments.data());
  ::_exit(kCannotStart);
}

int JobLauncher::wait() {
  for (bool anyLeft = true; anyLeft;) {
    waitForSomething();
    takeSignals();
    for (Stream& stream : streams_) relay(stream);
    if (Clock::now() - lastLook_ >= kBetweenLooks) look();
    anyLeft = reap();
  }
  // What was written last may still be in the pipes.
  for (Stream& stream : streams_) {
    const int flags = stream.from ? ::fcntl(stream.from.get(), F_GETFL) : 0;
    if (stream.from) ::fcntl(stream.from.get(), F_SETFL, flags | O_NONBLOCK);
    while (stream.from) {
      relay(stream);
      pollfd sink{stream.to, POLLOUT, 0};
      if (!stream.readerGone) ::poll(&sink, 1, 100);
    }
  }
  return *status_;
}

/// A chunk at a time, and only where it can be written at once: a slow reader does not keep signals waiting.
void JobLauncher::relay(Stream& stream) {
  if (!stream.from) return;
  pollfd ready{stream.from.get(), POLLIN, 0};
  if (::poll(&ready, 1, 0) <= 0) {
    if (status_) stream.from.close();
    return;
  }
  if (!stream.readerGone) {
    pollfd sink{stream.to, POLLOUT, 0};
    ::poll(&sink, 1, 0);
    stream.readerGone = (sink.revents & (POLLERR | POLLNVAL)) != 0;
    if (!stream.readerGone && (sink.revents & POLLOUT) == 0) return;
  }
  std::array<char, kChunk> chunk;
  const ssize_t n = ::read(stream.from.get(), chunk.data(), chunk.size());
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) stream.from.close();
  if (n > 0 && !stream.readerGone)
    stream.readerGone = writeAll(stream.to, {chunk.data(), static_cast<std::size_t>(n)}) != 0;
}

void JobLauncher::waitForSomething() {
  std::vector<pollfd> all{{signals_.get(), POLLIN, 0}};
  for (const Stream& stream : streams_) {
    if (!stream.from) continue;
    pollfd sink{stream.to, POLLOUT, 0};
    const bool open = stream.readerGone || (::poll(&sink, 1, 0) > 0);
    if (open) all.push_back({stream.from.get(), POLLIN, 0});
  }
  ::poll(all.data(), all.size(), 50);
}

void JobLauncher::takeSignals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    request(static_cast<int>(info.ssi_signo));
}

void JobLauncher::request(int number) {
  const Clock::time_point now = Clock::now();
  if (wishes_ > 0 && now - lastWish_ < kSameSignal) return;
  if (wishes_ == 0) {
    firstWish_ = now;
    if (::isatty(STDERR_FILENO) == 1) std::cerr << kStopAnnouncement << std::flush;
  }
  wish_ = number;
  lastWish_ = now;
  ++wishes_;
  passOn();
}

/// To each rank that is able to hear it; the others get it later.
void JobLauncher::passOn() {
  if (wishes_ == 0) return;
  for (const pid_t rank : note_.ready()) {
    if (!passed_.insert({rank, wishes_}).second || note_.exitCodes().count(rank) > 0) continue;
    ::kill(rank, wish_);
  }
}

/// The launcher and its helpers hold signals back; who sent one to them meant the job.
void JobLauncher::takeMisdirectedSignals() {
  if (status_) return;
  std::vector<pid_t> helpers = childrenOf(launcher_);
  helpers.push_back(launcher_);
  for (const pid_t process : helpers) {
    for (const int number : pendingOf(process)) {
      if (misdirected_.insert({process, number}).second) request(number);
    }
  }
}

void JobLauncher::look() {
  lastLook_ = Clock::now();
  takeMisdirectedSignals();
  passOn();
  if (status_) stopOrphans();
  endSlowOnes();
}

/// Ranks whose launcher has gone go on for themselves; they are asked to stop.
void JobLauncher::stopOrphans() {
  if (wishes_ > 0) return;
  const std::map<pid_t, int> ended = note_.exitCodes();
  for (const pid_t rank : note_.ready()) {
    if (ended.count(rank) == 0 && ::kill(rank, 0) == 0) return request(SIGTERM);
  }
}

void JobLauncher::endSlowOnes() {
  const Clock::time_point now = Clock::now();
  const auto ranks = static_cast<std::size_t>(ranks_);
  const bool ended = note_.exitCodes().size() >= ranks;
  if (!ended) ended_ = now;
  const bool asked = wishes_ > 1 && now - lastWish_ > kToEnd;
  const bool neverStarted = note_.ready().size() < ranks && now - started_ > kToStart;
  const bool lingers = ended && now - ended_ > kAfterLastRank;
  const bool orphaned = status_ && now - lastWish_ > kOrphans;
  if (!asked && !neverStarted && !lingers && !orphaned) return;
  for (const pid_t child : childrenOf(::getpid())) {
    for (const pid_t grandchild : childrenOf(child)) {
      for (const pid_t rank : childrenOf(grandchild)) ::kill(rank, SIGKILL);
      ::kill(grandchild, SIGKILL);
    }
    ::kill(child, SIGKILL);
  }
}

/// False once there is no child any more.
bool JobLauncher::reap() {
  for (;;) {
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, WNOHANG);
    if (child == 0) return true;
    if (child < 0 && errno == EINTR) continue;
    if (child < 0) return false;
    if (child == launcher_) status_ = status;
  }
}

}  // namespace tessera
