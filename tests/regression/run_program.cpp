#include "tests/regression/run_program.hpp"

#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <random>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tessera::test {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string contentsOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Parent of a process, or -1.
pid_t parentOf(pid_t pid) {
  const std::string stat = contentsOf("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return -1;
  std::istringstream in(stat.substr(end + 1));
  std::string state;
  pid_t parent = -1;
  in >> state >> parent;
  return state == "Z" ? -1 : parent;
}

/// A file of the bundle that is tested, or the same one where it was built.
std::string inBundle(const char* name, const char* built) {
  const char* bundle = std::getenv("TESSERA_TEST_BUNDLE");
  return bundle == nullptr ? built : std::string(bundle) + "/" + name;
}

}  // namespace

std::string programPath() { return inBundle("bin/tessera", TESSERA_BINARY_DIR "/tools/tessera/tessera"); }

RunningProgram::RunningProgram(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  static int count = 0;
  const std::string name = ".program." + std::to_string(++count);
  out_ = folder / (name + ".out");
  err_ = folder / (name + ".err");
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  start_ = now();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) return;
  setpgid(0, 0);
  const int out = open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int err = open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int in = open("/dev/null", O_RDONLY);
  if (chdir(folder.c_str()) != 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

RunningProgram::~RunningProgram() {
  for (const pid_t pid : descendants()) ::kill(pid, SIGKILL);
  ::kill(-pid_, SIGKILL);
  if (!over_) waitpid(pid_, nullptr, 0);
}

void RunningProgram::signal(int number) const { ::kill(pid_, number); }

std::vector<pid_t> RunningProgram::descendants() const {
  std::multimap<pid_t, pid_t> children;
  DIR* proc = opendir("/proc");
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid > 0) children.emplace(parentOf(pid), pid);
  }
  closedir(proc);
  std::vector<pid_t> found{pid_};
  for (std::size_t n = 0; n < found.size(); ++n) {
    const auto [first, last] = children.equal_range(found[n]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

ProgramResult RunningProgram::wait(double timeoutSeconds) {
  ProgramResult result;
  int status = 0;
  while (now() - start_ < timeoutSeconds) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      over_ = true;
      result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      break;
    }
    usleep(2000);
  }
  result.seconds = now() - start_;
  result.out = contentsOf(out_);
  result.err = contentsOf(err_);
  return result;
}

Workplace::Workplace() {
  std::string name = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Workplace::file(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return name;
}

std::string Workplace::read(const std::string& name) const { return contentsOf(path_ / name); }

std::vector<std::string> Workplace::command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), programPath());
  return arguments;
}

ProgramResult Workplace::onSmallDisk(const std::string& options,
                                     const std::vector<std::string>& arguments) const {
  std::filesystem::create_directory(path_ / "disk");
  std::vector<std::string> all{
      "unshare",
      geteuid() == 0 ? "-m" : "-Urm",
      "sh",
      "-c",
      "mount -t tmpfs -o \"$0\" tmpfs disk || exit 99; \"$@\"; status=$?; cp -r disk copy; "
      "exit $status",
      options};
  for (const std::string& argument : command(arguments)) all.push_back(argument);
  return RunningProgram(all, path_).wait();
}

ProgramResult Workplace::tessera(std::vector<std::string> arguments, double timeoutSeconds) const {
  return RunningProgram(command(std::move(arguments)), path_).wait(timeoutSeconds);
}

std::vector<std::string> Workplace::faultyCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   inBundle("bin/tessera_faulty", TESSERA_BINARY_DIR "/tests/tessera_faulty"));
  return arguments;
}

ProgramResult Workplace::faulty(std::vector<std::string> arguments, double timeoutSeconds) const {
  return RunningProgram(faultyCommand(std::move(arguments)), path_).wait(timeoutSeconds);
}

std::string resultOf(const Workplace& place, const std::string& run, const std::string& key) {
  const auto json = nlohmann::json::parse(place.read(run + "/result.json"), nullptr, false);
  if (!json.is_object() || !json.contains(key)) return "missing";
  return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
}

unsigned testSeed() {
  const char* given = std::getenv("TESSERA_TEST_SEED");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
}

int countOf(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace tessera::test
