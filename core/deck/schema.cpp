#include "core/deck/schema.hpp"

#include <algorithm>
#include <utility>

#include "core/deck/detail/key_hints.hpp"
#include "core/deck/detail/table_reader.hpp"
#include "core/text/error.hpp"
#include "core/text/message_text.hpp"

namespace tessera {

namespace {

const ParameterTable* findIn(const std::vector<ParameterTable>& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const ParameterTable& table) { return table.name() == name; });
  return found == tables.end() ? nullptr : &*found;
}

void expectNewName(const Schema& schema, const std::string& name) {
  const bool isTaken = name == "constants" || name == "notes" || schema.find(name) != nullptr ||
                       findIn(schema.unselected(), name) != nullptr;
  if (isTaken)
    throw InternalError("the table [" + name + "] is declared twice; give one of them another name");
  if (name.find('.') != std::string::npos)
    throw InternalError("a table of the deck has no dot in its name: " + name);
}

/// A key at the top of the deck: which table it is, and if it has the form of one.
void checkTop(const Schema& schema, const DeckNode& node, DeckDiagnostics& findings) {
  const bool isTable = node.kind == DeckKind::Table;
  if (findIn(schema.unselected(), node.key) != nullptr) {
    findings.error(node.keyWhere, "[" + node.key + "] belongs to a component that is not selected; add \"" +
                                      node.key + "\" to simulation.components or remove the table");
  } else if (schema.find(node.key) != nullptr || node.key == "notes") {
    if (isTable) return;
    const bool isList = node.kind == DeckKind::Array && !node.children.empty() &&
                        node.children.front().kind == DeckKind::Table;
    findings.error(node.keyWhere,
                   isList ? "there is one table [" + node.key + "]; write it with single brackets"
                          : "'" + node.key + "' is a table; write [" + node.key + "] on a line of its own");
  } else if (node.key != "constants") {
    findings.error(node.keyWhere, detail::unknownTopText(schema, node));
  }
}

/// The node if it is a table, so that a wrong form is reported once and not as missing keys too.
const DeckNode* tableNode(const Deck& deck, const ParameterTable& table) {
  const DeckNode* node = deck.root().child(table.name());
  return node != nullptr && node->kind == DeckKind::Table ? node : nullptr;
}

}  // namespace

void Schema::add(ParameterTable table) {
  expectNewName(*this, table.name());
  tables_.push_back(std::move(table));
}

void Schema::addUnselected(ParameterTable table) {
  expectNewName(*this, table.name());
  unselected_.push_back(std::move(table));
}

const ParameterTable* Schema::find(std::string_view table) const { return findIn(tables_, table); }

DeckDiagnostics check(const Deck& deck, const Schema& schema) {
  DeckDiagnostics findings;
  for (const DeckNode& node : deck.root().children) {
    if (!findings.isFull()) checkTop(schema, node, findings);
  }
  const Constants constants = detail::readConstants(deck, findings);
  const detail::TableReader reader(deck, schema, constants);
  for (const ParameterTable& table : schema.tables()) {
    const DeckNode* node = deck.root().child(table.name());
    if (node == nullptr || node->kind == DeckKind::Table) reader.read(table, node, table.name(), findings);
  }
  return findings;
}

ParameterValues valuesOf(const Deck& deck, const Schema& schema, std::string_view table) {
  const ParameterTable* declared = schema.find(table);
  if (declared == nullptr) {
    throw InternalError("the schema has no table [" + std::string(table) +
                        "]; add it before asking for its values");
  }
  DeckDiagnostics findings;
  const Constants constants = detail::readConstants(deck, findings);
  ParameterValues values = detail::TableReader(deck, schema, constants)
                               .read(*declared, tableNode(deck, *declared), declared->name(), findings);
  findings.throwIfErrors();
  return values;
}

Constants constantsOf(const Deck& deck) {
  DeckDiagnostics findings;
  Constants constants = detail::readConstants(deck, findings);
  findings.throwIfErrors();
  return constants;
}

}  // namespace tessera
