#include "tools/simulation/run_folder/job_note.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {
namespace {

const char* const kVariable = "TESSERA_JOB_NOTE";

void note(const std::string& line) {
  const char* path = jobNotePath();
  if (path == nullptr) return;
  const FileHandle file(::open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (file) writeAll(file.get(), line + "\n");
}

/// The lines that begin with `key`, without it.
std::vector<std::string> linesOf(const std::string& path, const std::string& key) {
  std::vector<std::string> found;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) found.push_back(line.substr(key.size()));
  }
  return found;
}

}  // namespace

JobNote::JobNote() {
  std::error_code none;
  std::string path = (std::filesystem::temp_directory_path(none) / "tessera-job-XXXXXX").string();
  const FileHandle file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file || ::setenv(kVariable, path.c_str(), 1) != 0) return;
  path_ = path;
}

JobNote::~JobNote() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

std::vector<int> JobNote::exitCodes() const {
  std::vector<int> codes;
  for (const std::string& line : linesOf(path_, "exit ")) codes.push_back(std::atoi(line.c_str()));
  return codes;
}

std::filesystem::path JobNote::runFolder() const {
  const std::vector<std::string> folders = linesOf(path_, "run ");
  return folders.empty() ? std::filesystem::path() : std::filesystem::path(folders.back());
}

void noteRunFolder(const std::filesystem::path& folder) { note("run " + folder.string()); }

void noteExitCode(int exitCode) { note("exit " + std::to_string(exitCode)); }

const char* jobNotePath() { return std::getenv(kVariable); }

}  // namespace tessera
