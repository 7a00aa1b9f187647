#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "scheduler/device/backend/emulated_device.hpp"
#include "tools/jobs/job_run.hpp"

namespace tessera::jobs::test {

/// A folder of its own, gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "jobs_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string at(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::unique_ptr<JobDevice>> devicesOf(int threads, int emulated) {
  std::vector<std::unique_ptr<JobDevice>> devices;
  if (threads > 0) devices.push_back(makeHostJobDevice(threads));
  for (int n = 0; n < emulated; ++n) {
    devices.push_back(makeBackendJobDevice(makeEmulatedDevice({.number = n}), {.memoryBytes = 64 << 20}));
  }
  return devices;
}

inline std::string contentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string deckOf(const std::string& name) {
  return TESSERA_SOURCE_DIR "/inputs/jobs/" + name + ".toml";
}

/// What a deck of inputs/jobs with some other values has left, on two threads of the host.
struct DeckResult {
  Folder folder;
  std::string screen;
  int code = 0;

  explicit DeckResult(const std::string& deck, const std::vector<std::string>& overrides = {}) {
    std::ostringstream out;
    code = runJobDeck({.deck = deckOf(deck), .overrides = overrides, .out = folder.at("out"), .form = {}},
                      devicesOf(2, 0), out);
    screen = out.str();
  }
};

}  // namespace tessera::jobs::test
