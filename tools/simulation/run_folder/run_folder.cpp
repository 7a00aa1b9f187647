#include "tools/simulation/run_folder/run_folder.hpp"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include <climits>

#include "core/text/error.hpp"

namespace tessera {
namespace {

/// Room for result.json, so that a run can say how it ended when the disk is full.
constexpr std::int64_t kReserveBytes = 32768;
constexpr int kMaxFolders = 1000;
constexpr std::size_t kMaxNameLength = 80;

/// "inputs/heat/cosine.toml" -> "cosine", with nothing that a shell or another system could misread.
std::string folderNameFor(const std::string& deckName) {
  std::string name = std::filesystem::path(deckName).stem().string().substr(0, kMaxNameLength);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  }
  const std::size_t start = name.find_first_not_of(".-");
  return start == std::string::npos ? "run" : name.substr(start);
}

FolderHandle makeNumbered(const std::string& name) {
  for (int n = 0; n < kMaxFolders; ++n) {
    char number[16] = "";
    if (n > 0) std::snprintf(number, sizeof(number), ".%03d", n);
    bool made = false;
    FolderHandle folder = FolderHandle::make(name + number, made);
    if (made) return folder;
  }
  throw OutputError(Message("the run folders " + name + " to " + name + ".999 are all there already")
                        .line("fix  remove old ones, or choose another name with --out DIR")
                        .text());
}

FolderHandle makeNamed(const std::filesystem::path& path) {
  bool made = false;
  FolderHandle folder = FolderHandle::make(path, made);
  if (made) return folder;
  folder = FolderHandle::open(path);
  if (!std::filesystem::is_empty(path)) {
    throw OutputError(
        Message("the run folder " + path.string() + " is there already, and a run overwrites nothing")
            .line("fix  choose another name with --out DIR, or continue that run: tessera restart ",
                  path.string())
            .text());
  }
  return folder;
}

/// What is written later has a longer path; that it is too long is said now.
void requireShortPath(const std::filesystem::path& folder) {
  constexpr std::size_t kLongestInside = 100;  // checkpoints/ckpt-<step>.tmp/rank-<number>.dat
  if (folder.string().size() + kLongestInside < PATH_MAX) return;
  throw OutputError(
      Message("the path of the run folder is too long: " + std::to_string(folder.string().size()) +
              " characters, and the system allows " + std::to_string(PATH_MAX - 1) + " for the files in it")
          .line("fix  start in a folder nearer to it, or choose a shorter one with --out DIR")
          .text());
}

}  // namespace

std::string hostName() {
  char name[256] = "";
  if (::gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

bool isRunFolder(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "deck.toml")) return true;
  const bool hasParts =
      std::filesystem::exists(folder / "checkpoints") || std::filesystem::exists(folder / "provenance.json");
  if (!hasParts) return false;
  throw InputError(
      Message(folder.string() + " is damaged: it is the folder of a run, but has no deck.toml")
          .line("fix  put the deck of the run there again, or use one of its checkpoints or files")
          .text());
}

std::string processName() { return hostName() + " " + std::to_string(::getpid()); }

RunFolder::RunFolder(FolderHandle files) : files_(std::move(files)) {
  requireShortPath(path());
  lock();
  files_.needFolder("out");
  files_.needFolder("checkpoints");
  files_.remove("result.json.tmp");
  files_.remove("error.txt");
  files_.remove("stop");
  files_.reserve("reserve", kReserveBytes);
}

RunFolder::~RunFolder() {
  if (lock_) files_.remove("reserve");
  // The name is for other machines; this one's system lets go of the lock by itself.
  if (lock_ && ::ftruncate(lock_.get(), 0) != 0) lock_.close();
}

RunFolder RunFolder::create(const std::string& deckName, const std::optional<std::filesystem::path>& out) {
  if (out) requireShortPath(*out);
  return RunFolder(out ? makeNamed(*out) : makeNumbered(folderNameFor(deckName)));
}

RunFolder RunFolder::reopen(const std::filesystem::path& path) {
  if (!std::filesystem::exists(std::filesystem::path(path) / "deck.toml")) {
    const std::string fix = path.extension() == ".toml" ? "to run a deck: tessera run " + path.string()
                                                        : "give the folder that `tessera run` made";
    throw InputError(Message(path.string() + " is not the folder of a run: it has no deck.toml")
                         .line("fix  ", fix)
                         .text());
  }
  return RunFolder(FolderHandle::openNamed(path));
}

void RunFolder::lock() {
  FileHandle file = files_.openLock("lock");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    throw OutputError(Message("the run folder " + path().string() + " is in use by another run")
                          .line("process  ", files_.read("lock"))
                          .line("fix      wait for it, stop it with `touch ", (path() / "stop").string(),
                                "`, or run in another folder with --out DIR")
                          .text());
  }
  // A lock is only seen by processes of other machines where the file system passes it on, so the name counts
  // as well.
  const std::string owner = files_.read("lock");
  const std::string host = owner.substr(0, owner.find(' '));
  if (!owner.empty() && host != hostName()) {
    throw OutputError(Message("the run folder " + path().string() + " is in use by a run on another machine")
                          .line("process  ", owner)
                          .line("fix      where that run is over, remove ", (path() / "lock").string())
                          .text());
  }
  const std::string name = processName();
  if (::ftruncate(file.get(), 0) != 0 || writeAll(file.get(), name) != 0) {
    throw OutputError(Message("cannot write " + (path() / "lock").string() + ": " + errorText(errno)).text());
  }
  lock_ = std::move(file);
}

}  // namespace tessera
