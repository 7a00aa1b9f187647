#pragma once

#include <string>

#include "core/deck/parameters.hpp"

namespace tessera::detail {

/// Checks one node of a deck against the declaration of its key and turns it into a value. What is wrong goes
/// to `findings` under the full name ("heat.conductivity"); the value is then monostate. Not for Tables.
ParameterValues::Value readValue(const Parameter& parameter, const DeckNode& node,
                                 const std::string& fullName, const Constants& constants,
                                 DeckDiagnostics& findings);

/// What stands in the deck, short enough for a message: "1.5", "the text "abc"", "a list".
std::string foundText(const DeckNode& node);

/// "a number", "a list of 3 integers", "one of "a", "b"": what the parameter takes.
std::string expectedText(const Parameter& parameter);

/// "in (0, 1]", "greater than 0", "at most 5", or "" without a range.
std::string rangeText(const Parameter& parameter);

/// " (W/(m K))" or "".
std::string unitSuffix(const Parameter& parameter);

}  // namespace tessera::detail
