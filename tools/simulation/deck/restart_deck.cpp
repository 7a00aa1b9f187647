#include "tools/simulation/deck/restart_deck.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "core/deck/schema.hpp"
#include "tools/simulation/deck/core_schema.hpp"
#include "tools/simulation/deck/run_settings.hpp"
#include "tools/simulation/run_folder/history.hpp"
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

/// The lines of `valueLines`; those of lists of tables, which no assignment can name, are left out.
std::vector<std::string> assignmentsOf(const Deck& deck, const Schema& schema) {
  std::vector<std::string> assignments;
  std::istringstream lines(valueLines(deck, schema, [](std::string_view) { return true; }));
  bool inList = false;
  std::string list;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("[[", 0) == 0) {
      inList = true;
      list = line.substr(2, line.size() - 4) + ".";
    } else {
      inList = inList && line.rfind(list, 0) == 0;
      if (!inList) assignments.push_back(line);
    }
  }
  return assignments;
}

/// What the checkpoint says and the deck does not: the values that came from the command line then.
std::vector<std::string> overridesFrom(const CheckpointReader& checkpoint, const Deck& deck,
                                       const ComponentRegistry& registry) {
  const Deck before = Deck::fromText(checkpoint.identity().deckText, checkpoint.path().string() + "/deck");
  std::vector<std::string> known;
  if (!checkDeck(deck, registry).hasErrors()) known = assignmentsOf(deck, schemaFor(deck, registry));
  std::sort(known.begin(), known.end());
  std::vector<std::string> missing;
  if (checkDeck(before, registry).hasErrors()) return missing;
  for (const std::string& line : assignmentsOf(before, schemaFor(before, registry))) {
    if (!std::binary_search(known.begin(), known.end(), line)) missing.push_back(line);
  }
  return missing;
}

/// Of the --set of the run and of earlier restarts.
std::vector<std::string> earlierOverrides(const FolderHandle& runFolder, const Deck& deck,
                                          const CheckpointReader& checkpoint,
                                          const ComponentRegistry& registry) {
  std::string problem = "provenance.json of the run folder is missing";
  if (runFolder.has("provenance.json")) {
    try {
      return overridesIn(runFolder.read("provenance.json"));
    } catch (const InputError& damage) {
      problem = damage.message();
    }
  }
  std::cerr << "tessera: warning: " << problem
            << "; the values that --set gave are those in the checkpoint, of step " << checkpoint.step()
            << std::endl;
  return overridesFrom(checkpoint, deck, registry);
}

/// A run that has passed its end cannot go on to it.
void checkEnd(const TimeSettings& time, const Deck& deck, const CheckpointReader& checkpoint,
              DeckDiagnostics& findings) {
  const auto whereOf = [&](const char* key) {
    const DeckNode* node = deck.find(key);
    return node == nullptr ? DeckLocation() : node->where;
  };
  if (time.end && checkpoint.state().has("time") && *time.end < checkpoint.state().real("time")) {
    findings.error(whereOf("time.end"), "time.end is before the time of the checkpoint, " +
                                            shortestText(checkpoint.state().real("time")) +
                                            "; give a later one, or go back further with --from");
  }
  if (time.maxSteps && *time.maxSteps < checkpoint.step()) {
    findings.error(whereOf("time.max_steps"), "time.max_steps is less than the step of the checkpoint, " +
                                                  std::to_string(checkpoint.step()) +
                                                  "; give more, or go back further with --from");
  }
}

}  // namespace

Deck restartDeck(const FolderHandle& runFolder, const CheckpointReader& checkpoint,
                 const std::vector<std::string>& overrides, const ComponentRegistry& registry) {
  Deck deck = Deck::fromText(runFolder.read("deck.toml"), (runFolder.path() / "deck.toml").string());
  for (const std::string& assignment : earlierOverrides(runFolder, deck, checkpoint, registry)) {
    deck.set(assignment);
  }
  for (const std::string& assignment : overrides) deck.set(assignment);
  checkDeck(deck, registry).throwIfErrors();

  const Schema schema = schemaFor(deck, registry);
  const RunSettings settings = settingsOf(deck, schema);
  const std::vector<std::string>& components = settings.components;
  DeckDiagnostics findings;
  checkEnd(settings.time, deck, checkpoint, findings);
  if (components != checkpoint.identity().components) {
    findings.error(
        deck.find("simulation.components")->where,
        mayNotChange("simulation.components", joined(checkpoint.identity().components), joined(components)));
    findings.throwIfErrors();
  }
  const Deck before = Deck::fromText(checkpoint.identity().deckText, checkpoint.path().string() + "/deck");
  if (const DeckDiagnostics old = check(before, schema); old.hasErrors()) {
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
