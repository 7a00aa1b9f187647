#include "tools/simulation/forced_end.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/run_folder/job_note.hpp"

namespace tessera {
namespace {

constexpr int kExitForced = static_cast<int>(ErrorKind::Internal);

/// Text of a fixed capacity; what does not fit is left out.
class PlainText {
 public:
  PlainText& add(const char* text) noexcept {
    const std::size_t length = std::min(std::strlen(text), bytes_.size() - 1 - length_);
    std::memcpy(bytes_.data() + length_, text, length);
    length_ += length;
    bytes_[length_] = '\0';
    return *this;
  }
  PlainText& add(std::int64_t number) noexcept {
    std::array<char, 24> digits{};
    std::size_t at = digits.size() - 1;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return add(digits.data() + at);
  }
  void clear() noexcept { length_ = 0, bytes_[0] = '\0'; }
  const char* text() const noexcept { return bytes_.data(); }
  bool empty() const noexcept { return length_ == 0; }
  void writeTo(int descriptor) const noexcept {
    for (std::size_t done = 0; done < length_;) {
      const ssize_t n = ::write(descriptor, bytes_.data() + done, length_ - done);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  std::array<char, 8192> bytes_{};
  std::size_t length_ = 0;
};

// Written by one thread before the flag is set, read by the handler after it.
struct Prepared {
  PlainText folder;
  PlainText note;
  bool speaks = true;
  bool alone = true;
  bool seen = false;  ///< by a person: standard error is a terminal
};
Prepared prepared;
std::atomic<bool> folderKnown{false};
std::atomic<std::int64_t> lastCheckpoint{-1};

PlainText inFolder(const char* name) noexcept {
  PlainText path;
  path.add(prepared.folder.text()).add("/").add(name);
  return path;
}

void writeFile(const PlainText& path, int flags, const PlainText& text) noexcept {
  const int file = ::open(path.text(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return;
  text.writeTo(file);
  ::close(file);
}

const char* nameOfSignal(int signal) noexcept {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    case SIGXCPU:
      return "SIGXCPU";
    default:
      return "SIGTERM";
  }
}

PlainText reasonFor(int signal) noexcept {
  PlainText reason;
  reason.add("a second ").add(nameOfSignal(signal));
  reason.add(" ended the run at once, without a checkpoint of this step; ");
  const std::int64_t step = lastCheckpoint.load();
  if (step < 0) {
    reason.add("there is no older one");
  } else {
    reason.add("the last checkpoint is that of step ").add(step);
  }
  return reason;
}

void writeResult(const PlainText& reason) noexcept {
  PlainText json;
  json.add("{\n  \"status\": \"failed\",\n  \"exit_code\": ").add(std::int64_t{kExitForced});
  json.add(",\n  \"reason\": \"").add(reason.text()).add("\"\n}\n");
  ::unlink(inFolder("reserve").text());
  const PlainText temporary = inFolder("result.json.tmp");
  ::unlink(temporary.text());
  writeFile(temporary, O_CREAT | O_EXCL | O_NOFOLLOW, json);
  ::rename(temporary.text(), inFolder("result.json").text());
}

/// The first rank that ends makes the launcher kill the others: so the one that has something to say has to
/// be it, once the launcher has passed that on.
void letTheOthersKnow(bool spoke) noexcept {
  const timespec wait{spoke ? 0 : 3, spoke ? 300'000'000 : 0};
  ::nanosleep(&wait, nullptr);
}

}  // namespace

void prepareForcedEnd(int rank, int ranks) {
  folderKnown.store(false);
  lastCheckpoint.store(-1);
  prepared.folder.clear();
  prepared.note.clear();
  prepared.speaks = rank == 0;
  prepared.alone = ranks == 1;
  prepared.seen = ::isatty(STDERR_FILENO) == 1;
  if (jobNotePath() != nullptr) prepared.note.add(jobNotePath());
}

void forcedEndIn(const std::filesystem::path& runFolder) {
  prepared.folder.add(runFolder.c_str());
  folderKnown.store(true);
}

void forcedEndGoesBackTo(std::int64_t checkpointStep) { lastCheckpoint.store(checkpointStep); }

const char* const kStopAnnouncement =
    "\ntessera: stopping at the end of this step with a checkpoint; a second signal ends the run at once, "
    "without one\n";

void announceStop() noexcept {
  if (!prepared.seen || !prepared.speaks) return;
  PlainText text;
  text.add(kStopAnnouncement).writeTo(STDERR_FILENO);
}

void endAtOnce(int signal) noexcept {
  const PlainText reason = reasonFor(signal);
  PlainText message;
  message.add("tessera: error: ").add(reason.text()).add("\n");
  bool speaks = prepared.speaks;
  if (folderKnown.load()) {
    const int claim = ::open(inFolder("error.txt").text(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    speaks = claim >= 0;
    if (speaks) {
      message.add("  fix  ").add(lastCheckpoint.load() < 0 ? "start it again"
                                                           : "continue with: tessera restart ");
      if (lastCheckpoint.load() >= 0) message.add(prepared.folder.text());
      message.add("\n");
      reason.writeTo(claim);
      writeResult(reason);
    }
  }
  if (speaks) message.writeTo(STDERR_FILENO);
  if (!prepared.alone) letTheOthersKnow(speaks);
  if (!prepared.note.empty()) {
    PlainText line;
    line.add("exit ").add(std::int64_t{::getpid()}).add(" ").add(std::int64_t{kExitForced}).add("\n");
    writeFile(prepared.note, O_APPEND, line);
  }
  ::_exit(kExitForced);
}

}  // namespace tessera
