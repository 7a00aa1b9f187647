#include "tools/tessera/job/own_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"
#include "tools/tessera/job/process_limits.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr int kThrew = 255;
constexpr rlim_t kMemory = rlim_t{512} << 20;  ///< whatever the files hold
constexpr rlim_t kMemoryOfByte = 8;            ///< of a file: both of a pair, in double precision, and copies

std::string namesOf(const std::vector<fs::path>& files) {
  std::string names;
  for (const fs::path& file : files) names += (names.empty() ? "" : " or ") + file.string();
  return names;
}

/// Of all files below; what cannot be looked at counts nothing.
rlim_t bytesOf(const std::vector<fs::path>& files) {
  std::error_code none;
  rlim_t bytes = 0;
  const auto add = [&](const fs::path& file) {
    if (!fs::is_regular_file(file, none)) return;
    const std::uintmax_t size = fs::file_size(file, none);
    if (!none) bytes += size;
  };
  for (const fs::path& path : files) {
    add(path);
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, none);
    for (; !none && at != fs::recursive_directory_iterator(); at.increment(none)) add(at->path());
  }
  return bytes;
}

/// Of this process, as its limit counts it.
rlim_t bytesNow() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// A crash is an answer: a file with the memory of the process is not wanted. Sanitizers reserve more than
/// any limit.
void limitProcess(const std::vector<fs::path>& files) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (kIsSanitized) return;
  rlimit memory{};
  if (::getrlimit(RLIMIT_AS, &memory) != 0) return;
  memory.rlim_cur = std::min(memory.rlim_cur, bytesNow() + kMemory + kMemoryOfByte * bytesOf(files));
  ::setrlimit(RLIMIT_AS, &memory);
}

InputError tooLarge(const std::vector<fs::path>& files) {
  return InputError(
      Message("a file cannot be used: reading it takes many times more memory than it has bytes")
          .line("file  ", namesOf(files))
          .line("fix   write it again, or take a copy")
          .text());
}

/// In the child: the error goes through the pipe, the exit code is the answer.
[[noreturn]] void work(const std::vector<fs::path>& files, const std::function<int()>& body, int pipe) {
  int code = kThrew;
  const auto tell = [pipe](const Error& error) {
    std::cout.flush();
    writeAll(pipe, std::to_string(error.exitCode()) + " " + error.message());
    return kThrew;
  };
  try {
    limitProcess(files);
    code = body();
    std::cout.flush();
    if (!std::cout.good()) throw OutputError("standard output could not be written");
  } catch (const std::bad_alloc&) {
    code = tell(tooLarge(files));
  } catch (...) {
    code = tell(currentError());
  }
  ::_exit(code);
}

std::string readAll(int pipe) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 1; n > 0 || (n < 0 && errno == EINTR);) {
    n = ::read(pipe, buffer, sizeof(buffer));
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

int inOwnProcess(const std::vector<fs::path>& files, const std::function<int()>& body) {
  std::cout.flush();
  int ends[2];
  if (::pipe(ends) != 0) throw InternalError("no pipe can be made: " + errorText(errno));
  FileHandle read(ends[0]);
  FileHandle write(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw InternalError("no process can be started: " + errorText(errno));
  if (child == 0) {
    read.close();
    work(files, body, write.get());
  }
  write.close();
  const std::string said = readAll(read.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw InputError(Message("a file cannot be used: reading it ended by \"" +
                             std::string(::strsignal(WTERMSIG(status))) +
                             "\", so it is damaged in a way that only malice or a bad disk makes")
                         .line("file  ", namesOf(files))
                         .line("fix   write it again, or take a copy")
                         .text());
  }
  const std::size_t space = said.find(' ');
  if (WEXITSTATUS(status) != kThrew || space == std::string::npos) return WEXITSTATUS(status);
  throw Error(static_cast<ErrorKind>(std::stoi(said.substr(0, space))), said.substr(space + 1));
}

}  // namespace tessera
