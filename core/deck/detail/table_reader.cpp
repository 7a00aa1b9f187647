#include "core/deck/detail/table_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/deck/detail/key_hints.hpp"
#include "core/deck/detail/value_reader.hpp"
#include "core/text/message_text.hpp"

namespace tessera::detail {

/// One reading of one table: what belongs together while it goes on.
struct TableReader::Reading {
  const ParameterTable& table;
  const DeckNode* node;
  const std::string& path;
  std::map<std::string, const DeckNode*> found;  ///< by the name of the parameter
  ParameterValues values;
  DeckDiagnostics findings;
};

ParameterValues TableReader::read(const ParameterTable& table, const DeckNode* node, const std::string& path,
                                  DeckDiagnostics& findings) const {
  Reading reading{table, node, path, {}, {}, {}};
  reading.values.setTable(path, node != nullptr ? node->keyWhere : startOfDeck());
  if (node != nullptr) walk(reading, *node, "");
  for (const Parameter& parameter : table.parameters()) readParameter(reading, parameter);
  if (!reading.findings.hasErrors()) {
    for (const auto& rule : table.rules()) rule(reading.values, reading.findings);
  }
  findings.append(reading.findings);
  return std::move(reading.values);
}

/// Finds the nodes of the declared names, entering sub-tables, and reports undeclared keys.
void TableReader::walk(Reading& reading, const DeckNode& node, const std::string& prefix) const {
  for (const DeckNode& child : node.children) {
    if (reading.findings.isFull()) return;
    const std::string name = prefix + child.key;
    const bool isPlain = child.key.find('.') == std::string::npos;
    if (isPlain && reading.table.find(name) != nullptr) {
      reading.found.emplace(name, &child);
    } else if (isPlain && isSubTable(reading.table, name)) {
      if (child.kind == DeckKind::Table) {
        walk(reading, child, name + ".");
      } else {
        reading.findings.error(child.where,
                               quotedKey(reading.path + "." + name) + " is a table with the keys " +
                                   listText(keysBelow(reading.table, name + ".")) + "; it has no value");
      }
    } else {
      reading.findings.error(child.keyWhere, unknownKeyText(schema_, reading.table, prefix, child));
    }
  }
}

void TableReader::readParameter(Reading& reading, const Parameter& parameter) const {
  const auto found = reading.found.find(parameter.name());
  const DeckNode* node = found != reading.found.end() ? found->second
                         : parameter.defaultValue()   ? &*parameter.defaultValue()
                                                      : nullptr;
  const std::string fullName = reading.path + "." + parameter.name();
  ParameterValues::Value value;
  if (parameter.type() == ParameterType::Tables) {
    value = node != nullptr ? readTables(reading, parameter, *node) : std::vector<ParameterValues>();
  } else if (node != nullptr) {
    value = readValue(parameter, *node, fullName, constants_, reading.findings);
  } else if (parameter.presence() == Parameter::Presence::Required) {
    reportMissing(reading, parameter);
  }
  reading.values.put(parameter.name(), std::move(value), node != nullptr ? node->where : DeckLocation());
}

ParameterValues::Value TableReader::readTables(Reading& reading, const Parameter& parameter,
                                               const DeckNode& node) const {
  const std::string fullName = reading.path + "." + parameter.name();
  const bool isList = node.kind == DeckKind::Array &&
                      std::all_of(node.children.begin(), node.children.end(),
                                  [](const DeckNode& child) { return child.kind == DeckKind::Table; });
  if (!isList) {
    reading.findings.error(node.keyWhere,
                           quotedKey(fullName) + " is a list of tables; write [[" + fullName + "]]");
    return {};
  }
  std::vector<ParameterValues> tables;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (reading.findings.isFull()) break;
    const std::string path = fullName + "[" + std::to_string(i) + "]";
    tables.push_back(read(parameter.nested(), &node.children[i], path, reading.findings));
  }
  return tables;
}

/// The place of what is not there.
DeckLocation TableReader::startOfDeck() const {
  return DeckLocation::inFile(std::make_shared<const std::string>(deck_.name()), 1, 1);
}

void TableReader::reportMissing(Reading& reading, const Parameter& parameter) const {
  const bool hasTable = reading.node != nullptr;
  const bool hasPlace = hasTable && reading.node->keyWhere.origin() == DeckLocation::Origin::File;
  std::string text =
      hasTable ? "[" + reading.path + "] needs " : "the table [" + reading.path + "] is missing; it needs ";
  text += quotedKey(parameter.name()) + unitSuffix(parameter);
  if (!parameter.docText().empty()) text += ": " + parameter.docText();
  reading.findings.error(hasPlace ? reading.node->keyWhere : startOfDeck(), text);
}

}  // namespace tessera::detail
