#pragma once

#include <string>
#include <vector>

namespace tessera {

/// One word that a command takes: an option, or what stands without a name behind the command.
struct CommandWord {
  std::vector<std::string> names;  ///< {"-n", "--ranks"}, or {"DECK"}
  std::string type;                ///< "R"; empty where no value follows
  std::string meaning;
};

/// What a command takes, for messages.
struct CommandWords {
  std::string name;  ///< "run"; empty for the program itself
  std::vector<CommandWord> options;
  std::vector<CommandWord> operands;  ///< those that are required, in their order
};

// The sentences for command lines that cannot be read; each ends with what to write instead. Pure, any
// thread.

/// No command, or a word in its place that is none. `options`: of all commands, to tell those apart that
/// stand too early.
std::string unknownCommandText(const std::string& word, const std::vector<CommandWords>& commands,
                               const CommandWords& program);
/// A word behind a command that it does not know.
std::string unknownWordText(const std::string& word, const CommandWords& command);
/// An operand that is missing, by its place.
std::string missingOperandText(std::size_t given, const CommandWords& command);
/// An option without its value.
std::string missingValueText(const std::string& option, const CommandWords& command);
/// A value that an option does not take; `wanted`: "a whole number from 1 to 8".
std::string badValueText(const std::string& option, const std::string& value, const std::string& wanted);
/// An option that is given twice.
std::string repeatedText(const std::string& option);
/// Two options that exclude each other.
std::string excludingText(const std::string& one, const std::string& other);

/// Like "tessera run DECK"
std::string usageOf(const CommandWords& command);

}  // namespace tessera
