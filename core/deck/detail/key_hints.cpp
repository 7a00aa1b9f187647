#include "core/deck/detail/key_hints.hpp"

#include <algorithm>

#include "core/text/message_text.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera::detail {

namespace {

bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

void addOnce(std::vector<std::string>& names, std::string name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

/// "[grid]", or "[[grid.level]]" for one of a list of tables.
std::string headerText(const ParameterTable& table) {
  return table.name().find('.') == std::string::npos ? "[" + table.name() + "]" : "[[" + table.name() + "]]";
}

void addOwners(const ParameterTable& table, const ParameterTable& except, const std::string& name,
               std::vector<std::string>& owners) {
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) addOwners(parameter.nested(), except, name, owners);
  }
  const bool has = table.find(name) != nullptr || isSubTable(table, name);
  if (&table != &except && has) addOnce(owners, headerText(table));
}

/// The tables other than `except` that have a key of that name.
std::vector<std::string> ownersOf(const Schema& schema, const ParameterTable& except,
                                  const std::string& name) {
  std::vector<std::string> owners;
  for (const ParameterTable& table : schema.tables()) addOwners(table, except, name, owners);
  return owners;
}

std::string joinedByOr(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return out;
}

/// The declared path that has `key` as a later part: "boundary.x_low" for "x_low".
std::string deeperPath(const ParameterTable& table, const std::string& key) {
  for (const Parameter& parameter : table.parameters()) {
    const std::string padded = "." + parameter.name() + ".";
    const std::size_t at = padded.find("." + key + ".");
    if (at != std::string::npos) return parameter.name().substr(0, at + key.size());
  }
  return {};
}

std::vector<std::string> tableNames(const Schema& schema) {
  std::vector<std::string> names;
  for (const ParameterTable& table : schema.tables()) names.push_back(table.name());
  names.emplace_back("constants");
  names.emplace_back("notes");
  return names;
}

}  // namespace

bool isSubTable(const ParameterTable& table, const std::string& name) {
  return std::any_of(table.parameters().begin(), table.parameters().end(),
                     [&](const Parameter& parameter) { return startsWith(parameter.name(), name + "."); });
}

std::vector<std::string> keysBelow(const ParameterTable& table, const std::string& prefix) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : table.parameters()) {
    if (!startsWith(parameter.name(), prefix)) continue;
    const std::string rest = parameter.name().substr(prefix.size());
    addOnce(keys, rest.substr(0, rest.find('.')));
  }
  return keys;
}

std::string unknownKeyText(const Schema& schema, const ParameterTable& table, const std::string& prefix,
                           const DeckNode& node) {
  const std::string name = prefix + node.key;
  const std::string header = headerText(table);
  const std::string unknown = "unknown key " + quotedKey(name) + " in " + header;
  if (node.key.find('.') != std::string::npos && table.find(node.key) != nullptr) {
    return unknown + "; quotes make the dots part of one name, write " + node.key + " without them";
  }
  if (node.kind == DeckKind::Table && schema.find(node.key) != nullptr) {
    return unknown + "; [" + node.key + "] is a table of its own";
  }
  const std::vector<std::string> owners = ownersOf(schema, table, name);
  if (!owners.empty()) {
    return quotedKey(name) + " is not a key of " + header + "; it belongs to " + joinedByOr(owners);
  }
  const std::vector<std::string> keys = keysBelow(table, prefix);
  const std::string nearest = nearestName(node.key, keys);
  if (!nearest.empty()) return unknown + "; did you mean '" + prefix + nearest + "'?";
  const std::string deeper = deeperPath(table, node.key);
  if (!deeper.empty()) return unknown + "; did you mean '" + deeper + "'?";
  return unknown + "; known keys: " + listText(keys);
}

std::string unknownTopText(const Schema& schema, const DeckNode& node) {
  const std::vector<std::string> names = tableNames(schema);
  const std::string nearest = nearestName(node.key, names);
  const ParameterTable nowhere("top", "");
  const std::vector<std::string> owners = ownersOf(schema, nowhere, node.key);
  const bool isTable = node.kind == DeckKind::Table;
  const std::string unknown = isTable ? "unknown table [" + shortened(node.key) + "]"
                                      : quotedKey(node.key) + " stands outside the tables of the deck";
  if (!owners.empty()) return unknown + "; " + quotedKey(node.key) + " is a key of " + joinedByOr(owners);
  if (!nearest.empty()) return unknown + "; did you mean [" + nearest + "]?";
  return unknown + "; known tables: " + listText(names, names.size());
}

}  // namespace tessera::detail
