#include "tests/regression/all_decks.hpp"

#include <algorithm>
#include <filesystem>

#include "tests/regression/run_program.hpp"

namespace tessera::test {

std::vector<std::string> allDecks() {
  std::vector<std::string> decks;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(inputsPath())) {
    // Those of `tessera ensemble` and `tessera job` are no simulations; tests/tools/ runs them.
    if (entry.path().parent_path().filename() == "ensemble" ||
        entry.path().parent_path().filename() == "jobs")
      continue;
    if (entry.path().extension() == ".toml") decks.push_back(entry.path().string());
  }
  std::sort(decks.begin(), decks.end());
  return decks;
}

std::string nameOfDeck(const testing::TestParamInfo<std::string>& deck) {
  const std::filesystem::path path(deck.param);
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

}  // namespace tessera::test
