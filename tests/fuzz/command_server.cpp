// Runs commands of the program for the campaign of bad input: what takes long at the start of a program, its
// libraries, has been done once. Commands that only read are run one after another in one child process,
// which a crash ends; each other one has a child of its own. Threads: one.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tools/tessera/command_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotStarted = 127;
constexpr int kCommandsOfReader = 500;  ///< of one child, so that its memory says something of each

/// What comes on standard input, each part ended by a zero byte: the number of words, the seconds that the
/// command may take, its folder and its words.
struct Command {
  double seconds = 0.0;
  std::string folder;
  std::vector<std::string> words;

  bool onlyReads() const {
    static const std::set<std::string> names{"check", "compare", "describe", "graph",
                                             "info",  "list",    "trace"};
    return !words.empty() && names.count(words.front()) > 0;
  }
};

struct Answer {
  int code = 0;  ///< minus the signal
  long kilobytes = 0;
};

bool takeText(std::FILE* from, std::string& text) {
  text.clear();
  for (int c = std::getc(from); c != EOF; c = std::getc(from)) {
    if (c == '\0') return true;
    text.push_back(static_cast<char>(c));
  }
  return false;
}

bool takeCommand(std::FILE* from, Command& command) {
  std::string count;
  std::string seconds;
  if (!takeText(from, count) || !takeText(from, seconds) || !takeText(from, command.folder)) return false;
  command.seconds = std::atof(seconds.c_str());
  command.words.resize(static_cast<std::size_t>(std::atol(count.c_str())));
  for (std::string& word : command.words) {
    if (!takeText(from, word)) return false;
  }
  return true;
}

void passOn(std::FILE* to, const Command& command) {
  std::fprintf(to, "%zu%c%g%c", command.words.size(), '\0', command.seconds, '\0');
  std::fwrite(command.folder.c_str(), 1, command.folder.size() + 1, to);
  for (const std::string& word : command.words) std::fwrite(word.c_str(), 1, word.size() + 1, to);
  std::fflush(to);
}

/// In a child. The output goes to the files .out and .err of the command's folder.
int obey(Command& command) {
  if (chdir(command.folder.c_str()) != 0) return kNotStarted;
  constexpr int kMake = O_WRONLY | O_CREAT | O_TRUNC;
  const std::array files{open("/dev/null", O_RDONLY), open(".out", kMake, 0666), open(".err", kMake, 0666)};
  for (int n = 0; n < 3; ++n) {
    if (dup2(files[static_cast<std::size_t>(n)], n) < 0) return kNotStarted;
    close(files[static_cast<std::size_t>(n)]);
  }
  std::string name = "tessera";
  std::vector<char*> arguments{name.data()};
  for (std::string& word : command.words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int code = tessera::runTessera(static_cast<int>(arguments.size()) - 1, arguments.data(),
                                       tessera::builtInComponents());
  std::cout.flush();
  std::fflush(stdout);
  std::cout.clear();
  std::cerr.clear();
  return code;
}

Answer answerOf(int status, const rusage& usage) {
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), usage.ru_maxrss};
}

void say(const Answer& answer, bool late, Clock::time_point begin) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const std::string code = late ? "late" : std::to_string(answer.code);
  std::printf("%s %ld %.4f\n", code.c_str(), answer.kilobytes, seconds);
  std::fflush(stdout);
}

/// A child that runs commands which only read.
class Reader {
 public:
  ~Reader() { end(SIGKILL); }

  /// False: it took too long, and was killed.
  bool run(const Command& command, Answer& answer) {
    if (process_ <= 0 || ++served_ > kCommandsOfReader) start();
    passOn(to_, command);
    pollfd wait{from_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(1000.0 * command.seconds));
    if (ready <= 0) {
      end(SIGKILL);
      return false;
    }
    if (::read(from_, &answer, sizeof(answer)) == static_cast<ssize_t>(sizeof(answer))) return true;
    answer = end(0);
    return true;
  }

 private:
  void start() {
    end(SIGKILL);
    int down[2];
    int up[2];
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) std::exit(1);
    process_ = fork();
    if (process_ >= 0) setpgid(process_, process_);  // both sides, whoever comes first
    if (process_ == 0) {
      close(down[1]);
      std::FILE* commands = fdopen(down[0], "r");
      for (Command command; takeCommand(commands, command);) {
        Answer mine{obey(command), 0};
        for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
          rusage usage{};
          getrusage(who, &usage);
          mine.kilobytes = std::max(mine.kilobytes, usage.ru_maxrss);
        }
        if (::write(up[1], &mine, sizeof(mine)) < 0) break;
      }
      _exit(0);
    }
    close(down[0]);
    close(up[1]);
    to_ = fdopen(down[1], "w");
    from_ = up[0];
    served_ = 0;
  }

  Answer end(int signal) {
    if (process_ <= 0) return {};
    int status = 0;
    rusage usage{};
    if (signal != 0) kill(-process_, signal);
    std::fclose(to_);
    close(from_);
    wait4(process_, &status, 0, &usage);
    process_ = -1;
    return answerOf(status, usage);
  }

  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  int from_ = -1;
  int served_ = 0;
};

/// False: it took too long, and all of it was killed.
bool runAlone(Command& command, Answer& answer) {
  sigset_t child;
  sigset_t before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  const Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(static_cast<int>(1000.0 * command.seconds));
  const pid_t process = fork();
  if (process == 0) {
    setsid();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    _exit(obey(command));
  }
  int status = 0;
  rusage usage{};
  const timespec moment{0, 100'000'000};
  bool late = process < 0;
  while (process > 0 && wait4(process, &status, WNOHANG, &usage) == 0) {
    sigtimedwait(&child, nullptr, &moment);
    if (late || Clock::now() < end) continue;
    late = true;
    kill(-process, SIGKILL);
  }
  answer = answerOf(status, usage);
  return !late;
}

}  // namespace

/// Answers each command by a line "CODE KILOBYTES SECONDS" on standard output, with minus the signal in the
/// place of a code, or "late" for one that was killed because its time was over.
int main() {
  std::signal(SIGPIPE, SIG_IGN);
  Reader reader;
  for (Command command; takeCommand(stdin, command);) {
    const Clock::time_point begin = Clock::now();
    Answer answer;
    const bool inTime = command.onlyReads() ? reader.run(command, answer) : runAlone(command, answer);
    say(answer, !inTime, begin);
  }
  return 0;
}
