#include "tools/tessera/job/own_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text/error.hpp"
#include "tools/simulation/agreement.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {
namespace {

constexpr int kThrew = 255;

/// In the child: the error goes through the pipe, the exit code is the answer.
[[noreturn]] void work(const std::function<int()>& body, int pipe) {
  // A crash is an answer; a file with the memory of it is not wanted.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  int code = kThrew;
  try {
    code = body();
    std::cout.flush();
    if (!std::cout.good()) throw OutputError("standard output could not be written");
  } catch (...) {
    std::cout.flush();
    const Error error = currentError();
    code = kThrew;
    writeAll(pipe, std::to_string(error.exitCode()) + " " + error.message());
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

int inOwnProcess(const std::string& files, const std::function<int()>& body) {
  std::cout.flush();
  int ends[2];
  if (::pipe(ends) != 0) throw InternalError("no pipe can be made: " + errorText(errno));
  FileHandle read(ends[0]);
  FileHandle write(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw InternalError("no process can be started: " + errorText(errno));
  if (child == 0) {
    read.close();
    work(body, write.get());
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
                         .line("file  ", files)
                         .line("fix   write it again, or take a copy")
                         .text());
  }
  const std::size_t space = said.find(' ');
  if (WEXITSTATUS(status) != kThrew || space == std::string::npos) return WEXITSTATUS(status);
  throw Error(static_cast<ErrorKind>(std::stoi(said.substr(0, space))), said.substr(space + 1));
}

}  // namespace tessera
