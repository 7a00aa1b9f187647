#pragma once

#include <string_view>
#include <vector>

#include "core/deck/expression.hpp"

namespace tessera::detail {

/// The functions that an expression may call, with the number of arguments (0 = any number, at least one).
struct FunctionName {
  std::string_view name;
  int arguments = 0;
};
const std::vector<FunctionName>& expressionFunctions();

/// True for x, y, z, t, pi and the functions: names that a constant may not take.
bool isReservedName(std::string_view name);

/// A letter or underscore, then letters, digits and underscores; at most 100 bytes.
bool isIdentifier(std::string_view name);

/// What an expression uses, found without understanding it.
struct ExpressionUse {
  bool x = false;
  bool y = false;
  bool z = false;
  bool t = false;
  Constants constants;  ///< those of the deck that it names, each once
};

/// Reads the text as tokens, before muParser sees it: length, nesting, characters, numbers, names, arguments
/// of functions, assignments. Throws ExpressionError with the exact position. What is left for muParser to
/// refuse is the order of operators and operands.
ExpressionUse scanExpression(std::string_view text, const Constants& constants, const Variables& variables);

}  // namespace tessera::detail
