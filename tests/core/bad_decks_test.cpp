#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/core/sample_schema.hpp"

// Each deck of the folder bad_decks is wrong. What a user reads about it stands beside it in NAME.expected;
// NAME.set, where it is, has one --set override a line. To renew the texts after a change of wording, run
// with TESSERA_WRITE_EXPECTED=1 and read every difference.

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(TESSERA_SOURCE_DIR) / "tests" / "core" / "bad_decks"; }

std::string contentsOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> badDecks() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// All that is wrong with the deck, with the name of the file but not its folder.
std::string complaintAbout(const std::string& name) {
  std::string text;
  try {
    Deck deck = Deck::fromFile(folder() / (name + ".toml"));
    std::istringstream overrides(contentsOf(folder() / (name + ".set")));
    for (std::string line; std::getline(overrides, line);) deck.set(line);
    text = check(deck, sampleSchema()).text();
  } catch (const DeckError& error) {
    EXPECT_EQ(error.exitCode(), 2);
    text = error.message();
  }
  const std::string prefix = folder().string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
    text.erase(at, prefix.size());
  return text + "\n";
}

class BadDeck : public ::testing::TestWithParam<std::string> {};

TEST_P(BadDeck, IsRefusedWithTheExpectedText) {
  const fs::path expected = folder() / (GetParam() + ".expected");
  const std::string complaint = complaintAbout(GetParam());
  if (std::getenv("TESSERA_WRITE_EXPECTED") != nullptr)
    std::ofstream(expected, std::ios::binary) << complaint;
  ASSERT_TRUE(fs::exists(expected)) << complaint;
  EXPECT_EQ(complaint, contentsOf(expected));
}

INSTANTIATE_TEST_SUITE_P(Folder, BadDeck, ::testing::ValuesIn(badDecks()),
                         [](const auto& info) { return info.param; });

TEST(BadDecks, AreAtLeastFortyFive) { EXPECT_GE(badDecks().size(), 45U); }

}  // namespace
}  // namespace tessera::test
