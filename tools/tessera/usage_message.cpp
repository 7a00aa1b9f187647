#include "tools/tessera/usage_message.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera {
namespace {

bool isOption(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// "--set=a=1" is about "--set".
std::string nameOf(const std::string& word) { return word.substr(0, word.find('=')); }

std::vector<std::string> optionNames(const CommandWords& command) {
  std::vector<std::string> names;
  for (const CommandWord& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Short options are too short for a nearest one: "-x" is as near to "-n" as to "-q".
std::string nearestOption(const std::string& word, const CommandWords& command) {
  if (word.size() < 3) return {};
  std::vector<std::string> names = optionNames(command);
  std::erase_if(names, [](const std::string& name) { return name.size() < 3; });
  return nearestName(nameOf(word), names);
}

bool knows(const CommandWords& command, const std::string& option) {
  const std::vector<std::string> names = optionNames(command);
  return std::find(names.begin(), names.end(), nameOf(option)) != names.end();
}

std::string programCall(const CommandWords& command) {
  return command.name.empty() ? "tessera" : "tessera " + command.name;
}

std::string joined(const std::vector<CommandWords>& commands) {
  std::string text;
  for (const CommandWords& command : commands) text += (text.empty() ? "" : ", ") + command.name;
  return text;
}

std::string helpLine(const CommandWords& command) {
  return "`" + programCall(command) + " --help` lists what it takes";
}

}  // namespace

std::string usageOf(const CommandWords& command) {
  std::string text = programCall(command);
  for (const CommandWord& operand : command.operands) text += " " + operand.names.front();
  return text;
}

std::string unknownCommandText(const std::string& word, const std::vector<CommandWords>& commands,
                               const CommandWords& program) {
  if (word.empty()) {
    return Message("no command was given")
        .line("fix  write one of: ", joined(commands), "; for example tessera run DECK, or tessera --help")
        .text();
  }
  if (isOption(word)) {
    for (const CommandWords& command : commands) {
      if (!knows(command, word)) continue;
      return Message("the option " + nameOf(word) + " stands before the command")
          .line("fix  options follow their command: tessera ", command.name, " ", word, " ...")
          .text();
    }
    const std::string nearest = nearestOption(word, program);
    return Message("unknown option " + word + (nearest.empty() ? "" : "; did you mean " + nearest + "?"))
        .line("fix  `tessera --help` lists the commands; options follow a command")
        .text();
  }
  std::vector<std::string> names{"--help"};
  for (const CommandWords& command : commands) names.push_back(command.name);
  const std::string nearest = word == "help" ? "--help" : nearestName(word, names);
  std::string text = "unknown command \"" + word + "\"";
  if (!nearest.empty()) text += "; did you mean `tessera " + nearest + "`?";
  const bool isDeck = word.size() > 5 && word.substr(word.size() - 5) == ".toml";
  return Message(text)
      .line("fix  ", isDeck ? "to run this deck: tessera run " + word : "write one of: " + joined(commands))
      .text();
}

std::string unknownWordText(const std::string& word, const CommandWords& command) {
  if (!isOption(word)) {
    return Message("`" + programCall(command) + "` does not take the word \"" + word + "\" here")
        .line("fix  write ", usageOf(command), "; ", helpLine(command))
        .text();
  }
  const std::string nearest = nearestOption(word, command);
  return Message("`" + programCall(command) + "` has no option " + nameOf(word) +
                 (nearest.empty() ? "" : "; did you mean " + nearest + "?"))
      .line("fix  ", helpLine(command))
      .text();
}

std::string missingOperandText(std::size_t given, const CommandWords& command) {
  const CommandWord& operand = command.operands.at(std::min(given, command.operands.size() - 1));
  return Message("`" + programCall(command) + "` needs " + operand.names.front())
      .line("which is  ", operand.meaning)
      .line("fix       write ", usageOf(command))
      .text();
}

std::string missingValueText(const std::string& option, const CommandWords& command) {
  for (const CommandWord& known : command.options) {
    if (std::find(known.names.begin(), known.names.end(), option) == known.names.end()) continue;
    return Message("the option " + option + " needs a value")
        .line("fix  write ", option, " ", known.type, ": ", known.meaning)
        .text();
  }
  return Message("the option " + option + " needs a value").line("fix  ", helpLine(command)).text();
}

std::string badValueText(const std::string& option, const std::string& value, const std::string& wanted) {
  return Message("the option " + option + " does not take \"" + value + "\"")
      .line("fix  write ", option, " with ", wanted)
      .text();
}

std::string repeatedText(const std::string& option) {
  return Message("the option " + option + " is given more than once").line("fix  give it once").text();
}

std::string excludingText(const std::string& one, const std::string& other) {
  return Message("the options " + one + " and " + other + " exclude each other")
      .line("fix  give one of them")
      .text();
}

}  // namespace tessera
