#include "tests/decks/repository_decks.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "core/deck/deck.hpp"

namespace tessera::test {
namespace {

using Features = std::set<std::string>;

/// inputs/ of the bundle that is tested, or where it was built.
std::filesystem::path inputsFolder() {
  const char* bundle = std::getenv("TESSERA_TEST_BUNDLE");
  return std::filesystem::path(bundle == nullptr ? TESSERA_SOURCE_DIR : bundle) / "inputs";
}

/// Adds the paths of tables, without the sides that they are of, and the schemes that are chosen.
void addTables(const DeckNode& node, const std::string& path, Features& features) {
  if (node.key == "scheme") features.insert(path + " " + node.text());
  if (node.kind == DeckKind::Table) features.insert(path);
  for (const DeckNode& child : node.children) {
    const bool isOfASide = child.key.ends_with("_low") || child.key.ends_with("_high");
    addTables(child, child.key.empty() ? path : path + "." + (isOfASide ? "side" : child.key), features);
  }
}

Features featuresOf(const std::string& deck) {
  const Deck tree = Deck::fromFile(pathOfDeck(deck));
  const DeckNode* const levels = tree.find("grid.level");
  const DeckNode* const subcycle = tree.find("amr.subcycle");
  const std::string components = tree.find("simulation.components")->toml();
  const std::size_t refined = levels == nullptr ? 0 : levels->children.size();
  const auto axes = std::ranges::count_if(tree.find("grid.cells")->children,
                                          [](const DeckNode& cells) { return cells.integer() > 1; });
  Features features{components + (refined == 0 ? " on one level" : " on levels"),
                    std::to_string(refined) + " refined levels", std::to_string(axes) + " axes"};
  if (subcycle != nullptr && subcycle->boolean()) features.insert(components + " in substeps");
  for (const DeckNode& table : tree.root().children) {
    const bool isOfResults = table.key == "output" || table.key == "history" || table.key == "analysis";
    if (!isOfResults) addTables(table, table.key, features);
  }
  return features;
}

std::size_t countMissing(const Features& features, const Features& missing) {
  return static_cast<std::size_t>(
      std::ranges::count_if(features, [&](const std::string& one) { return missing.contains(one); }));
}

/// Again and again the deck with most of what is missing; the first of equals.
std::vector<std::string> cover() {
  std::map<std::string, Features> decks;
  Features missing;
  for (const std::string& deck : allDecks()) {
    decks[deck] = featuresOf(deck);
    missing.insert(decks[deck].begin(), decks[deck].end());
  }
  std::vector<std::string> chosen;
  while (!missing.empty()) {
    const auto best = std::ranges::max_element(
        decks, {}, [&](const auto& deck) { return countMissing(deck.second, missing); });
    chosen.push_back(best->first);
    for (const std::string& one : best->second) missing.erase(one);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

std::vector<std::string> allDecks() {
  std::vector<std::string> names;
  const std::filesystem::path inputs = inputsFolder();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(inputs)) {
    const std::string folder = entry.path().parent_path().filename().string();
    // Those of `tessera ensemble` and `tessera job` are no simulations; tests/tools/ runs them.
    if (folder == "ensemble" || folder == "jobs" || entry.path().extension() != ".toml") continue;
    names.push_back(std::filesystem::relative(entry.path(), inputs).replace_extension().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> coveringDecks() {
  static const std::vector<std::string> decks = cover();
  return decks;
}

std::vector<std::string> otherDecks() {
  const std::vector<std::string> all = allDecks();
  const std::vector<std::string> covering = coveringDecks();
  std::vector<std::string> others;
  std::ranges::set_difference(all, covering, std::back_inserter(others));
  return others;
}

bool hasLevels(const std::string& deck) {
  const Deck tree = Deck::fromFile(pathOfDeck(deck));
  return tree.find("grid.level") != nullptr || followsMesh(deck);
}

bool followsMesh(const std::string& deck) {
  return Deck::fromFile(pathOfDeck(deck)).find("amr.max_levels") != nullptr;
}

std::size_t componentsOf(const std::string& deck) {
  return Deck::fromFile(pathOfDeck(deck)).find("simulation.components")->children.size();
}

std::string pathOfDeck(const std::string& deck) { return (inputsFolder() / deck).string() + ".toml"; }

std::string testName(std::string deck) {
  std::ranges::replace(deck, '/', '_');
  return deck;
}

}  // namespace tessera::test
