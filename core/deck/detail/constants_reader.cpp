#include <algorithm>
#include <cmath>

#include "core/deck/detail/expression_scan.hpp"
#include "core/deck/detail/table_reader.hpp"
#include "core/deck/detail/toml_text.hpp"
#include "core/deck/detail/value_reader.hpp"
#include "core/text/message_text.hpp"

namespace tessera::detail {

namespace {

constexpr std::size_t kMostConstants = 256;
constexpr std::size_t kMostCharacters = 32768;  ///< of all expressions: reading each takes time

/// "" or why the name cannot be that of a constant.
std::string faultOfName(const std::string& name) {
  if (!isIdentifier(name)) {
    return "the constant " + quotedKey(name) +
           " needs a name of letters, digits and _, not beginning with a digit";
  }
  if (isReservedName(name))
    return quotedKey(name) + " already has a meaning in expressions; give the constant another name";
  return "";
}

/// True if the expression fails only because it names a constant that stands below.
std::string laterConstant(const DeckNode& table, const DeckNode& node, const Constants& known) {
  Constants all = known;
  for (const DeckNode& other : table.children) {
    if (isIdentifier(other.key) && !isReservedName(other.key)) all.push_back({other.key, 1.0});
  }
  try {
    const ExpressionUse use = scanExpression(node.text(), all, {});
    for (const Constant& used : use.constants) {
      const bool isKnown =
          std::any_of(known.begin(), known.end(), [&](const Constant& c) { return c.name == used.name; });
      if (!isKnown) return used.name;
    }
  } catch (const ExpressionError&) {
    return "";
  }
  return "";
}

void addExpression(const DeckNode& table, const DeckNode& node, Constants& constants,
                   DeckDiagnostics& findings) {
  const std::string head = quotedKey("constants." + node.key);
  try {
    const double value = Expression::parse(node.text(), constants, {})(0, 0, 0, 0);
    if (std::isfinite(value)) {
      constants.push_back({node.key, value});
    } else {
      findings.error(node.where, head + ": " + quotedText(node.text()) + " gives " + plainNumber(value) +
                                     "; it must give a finite number");
    }
  } catch (const ExpressionError& fault) {
    const std::string later = laterConstant(table, node, constants);
    const std::string hint =
        later == node.key
            ? "a constant cannot use itself"
            : "it uses " + quotedKey(later) + ", which is not known yet; put that constant above this one";
    findings.error(node.where, head + ": " + (later.empty() ? fault.message() : hint));
  }
}

void addConstant(const DeckNode& table, const DeckNode& node, Constants& constants,
                 DeckDiagnostics& findings) {
  const std::string fault = faultOfName(node.key);
  if (!fault.empty()) return findings.error(node.keyWhere, fault);
  if (node.kind == DeckKind::Text) return addExpression(table, node, constants, findings);
  const bool isNumber = node.kind == DeckKind::Integer || node.kind == DeckKind::Real;
  const double value = node.kind == DeckKind::Integer ? static_cast<double>(node.integer())
                       : node.kind == DeckKind::Real  ? node.real()
                                                      : 0.0;
  if (isNumber && std::isfinite(value)) {
    constants.push_back({node.key, value});
    return;
  }
  findings.error(node.where,
                 quotedKey("constants." + node.key) +
                     (isNumber ? " is " + plainNumber(value) + "; it must be a finite number"
                               : " must be a number or an expression in quotes, got " + foundText(node)));
}

}  // namespace

Constants readConstants(const Deck& deck, DeckDiagnostics& findings) {
  Constants constants;
  const DeckNode* table = deck.root().child("constants");
  if (table == nullptr) return constants;
  if (table->kind != DeckKind::Table) {
    findings.error(table->keyWhere, "'constants' is a table; write [constants] on a line of its own");
    return constants;
  }
  if (table->children.size() > kMostConstants) {
    findings.error(table->keyWhere, "[constants] has " + std::to_string(table->children.size()) +
                                        " constants; at most " + std::to_string(kMostConstants) +
                                        " are allowed");
    return constants;
  }
  std::size_t characters = 0;
  for (const DeckNode& node : table->children) {
    characters += node.kind == DeckKind::Text ? node.text().size() : 0;
  }
  if (characters > kMostCharacters) {
    findings.error(table->keyWhere, "the expressions of [constants] have " + std::to_string(characters) +
                                        " characters together; at most " + std::to_string(kMostCharacters) +
                                        " are possible");
    return constants;
  }
  for (const DeckNode& node : table->children) addConstant(*table, node, constants, findings);
  return constants;
}

}  // namespace tessera::detail
