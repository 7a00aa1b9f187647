#include "tools/simulation/deck/restart_deck.hpp"

#include "core/deck/schema.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/run_settings.hpp"
#include "tools/simulation/run_folder/provenance.hpp"

namespace tessera {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return "[" + text + "]";
}

std::string mayNotChange(const std::string& name, const std::string& before, const std::string& now) {
  return name + " may not change on a restart: the checkpoint has " + before + ", the deck says " + now +
         "; set it back, or start a new run";
}

}  // namespace

Deck restartDeck(const FolderHandle& runFolder, const CheckpointReader& checkpoint,
                 const std::vector<std::string>& overrides, const ComponentRegistry& registry) {
  Deck deck = Deck::fromText(runFolder.read("deck.toml"), (runFolder.path() / "deck.toml").string());
  if (runFolder.has("provenance.json")) {
    for (const std::string& assignment : overridesIn(runFolder.read("provenance.json"))) deck.set(assignment);
  }
  for (const std::string& assignment : overrides) deck.set(assignment);
  checkDeck(deck, registry).throwIfErrors();

  const Schema schema = schemaFor(deck, registry);
  const std::vector<std::string> components = settingsOf(deck, schema).components;
  Findings findings;
  if (components != checkpoint.identity().components) {
    findings.error(
        deck.find("simulation.components")->where,
        mayNotChange("simulation.components", joined(checkpoint.identity().components), joined(components)));
    findings.throwIfErrors();
  }
  const Deck before = Deck::fromText(checkpoint.identity().deckText, checkpoint.path().string() + "/deck");
  if (const Findings old = check(before, schema); old.hasErrors()) {
    throw InputError(
        Message("the checkpoint " + checkpoint.path().string() +
                " has a deck that this program does not know")
            .line("written by  ", checkpoint.identity().codeVersion)
            .line("fix         restart it with that version; the first fault is: ", old.all().front().line())
            .text());
  }
  for (const ParameterChange& change : changedParameters(before, deck, schema)) {
    findings.error(change.where, mayNotChange(change.name, change.oldValue, change.newValue));
  }
  findings.throwIfErrors();
  return deck;
}

}  // namespace tessera
