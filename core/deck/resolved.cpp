#include <map>

#include "core/deck/detail/resolved_marks.hpp"
#include "core/deck/detail/toml_text.hpp"
#include "core/deck/detail/value_text.hpp"
#include "core/deck/schema.hpp"

namespace tessera {

namespace {

std::string lineOf(const std::string& key, const std::string& value, const DeckLocation& where) {
  return key + " = " + value + detail::originMark(where) + "\n";
}

/// The body of one table, then its lists of tables, each under a header of its own.
std::string bodyOf(const ParameterTable& table, const ParameterValues& values) {
  std::string plain;
  std::string lists;
  for (const Parameter& parameter : table.parameters()) {
    const std::string& name = parameter.name();
    if (parameter.type() == ParameterType::Tables) {
      for (const ParameterValues& element : values.tables(name)) {
        lists += "\n[[" + table.name() + "." + name + "]]" + detail::originMark(element.tableWhere()) + "\n" +
                 bodyOf(parameter.nested(), element);
      }
    } else if (values.has(name)) {
      plain += lineOf(name, detail::valueText(values.value(name)), values.where(name));
    } else {
      plain += "# " + name + "  # unset\n";
    }
  }
  return plain + lists;
}

/// [constants] and [notes]: free names, so as they are written in the deck.
std::string freeTable(const Deck& deck, const std::string& name) {
  const DeckNode* table = deck.root().child(name);
  if (table == nullptr) return "";
  std::string out = "\n[" + name + "]\n";
  for (const DeckNode& node : table->children)
    out += lineOf(detail::tomlKey(node.key), node.toml(), node.where);
  return out;
}

/// The values of every selected table of a deck that has passed check().
std::map<std::string, ParameterValues> allValues(const Deck& deck, const Schema& schema) {
  std::map<std::string, ParameterValues> values;
  for (const ParameterTable& table : schema.tables()) {
    values.emplace(table.name(), valuesOf(deck, schema, table.name()));
  }
  return values;
}

void addLines(const ParameterTable& table, const ParameterValues& values,
              const std::function<bool(std::string_view)>& wanted, std::string& lines) {
  for (const Parameter& parameter : table.parameters()) {
    const std::string name = table.name() + "." + parameter.name();
    if (parameter.type() == ParameterType::Tables) {
      for (const ParameterValues& element : values.tables(parameter.name())) {
        lines += "[[" + name + "]]\n";
        addLines(parameter.nested(), element, wanted, lines);
      }
    } else if (values.has(parameter.name()) && wanted(name)) {
      lines += name + " = " + detail::valueText(values.value(parameter.name())) + "\n";
    }
  }
}

class Comparison {
 public:
  std::vector<ParameterChange> changes;

  void tables(const ParameterTable& table, const ParameterValues& before, const ParameterValues& after) {
    for (const Parameter& parameter : table.parameters()) {
      if (parameter.type() == ParameterType::Tables) {
        lists(parameter, before, after);
      } else if (!parameter.changesOnRestart()) {
        values(parameter.name(), before, after);
      }
    }
  }

  void constants(const Deck& before, const Deck& after) {
    std::map<std::string, std::string> old;
    for (const Constant& constant : constantsOf(before))
      old[constant.name] = detail::tomlNumber(constant.value);
    for (const Constant& constant : constantsOf(after)) {
      const std::string now = detail::tomlNumber(constant.value);
      const auto known = old.find(constant.name);
      const std::string was = known == old.end() ? "unset" : known->second;
      if (was != now)
        add("constants." + constant.name, was, now, after.find("constants." + constant.name)->where);
      if (known != old.end()) old.erase(known);
    }
    for (const auto& [name, value] : old) add("constants." + name, value, "unset", DeckLocation());
  }

 private:
  void lists(const Parameter& parameter, const ParameterValues& before, const ParameterValues& after) {
    const auto& old = before.tables(parameter.name());
    const auto& now = after.tables(parameter.name());
    if (old.size() != now.size()) return values(parameter.name(), before, after);
    for (std::size_t i = 0; i < old.size(); ++i) tables(parameter.nested(), old[i], now[i]);
  }

  void values(const std::string& name, const ParameterValues& before, const ParameterValues& after) {
    const std::string was = detail::valueText(before.value(name));
    const std::string now = detail::valueText(after.value(name));
    if (was != now) add(after.table() + "." + name, was, now, after.where(name));
  }

  void add(std::string name, std::string was, std::string now, const DeckLocation& where) {
    changes.push_back({std::move(name), std::move(was), std::move(now), where});
  }
};

}  // namespace

std::string resolvedText(const Deck& deck, const Schema& schema) {
  std::string out(detail::kResolvedHead);
  const auto values = allValues(deck, schema);
  for (const ParameterTable& table : schema.tables()) {
    out += "\n[" + table.name() + "]\n" + bodyOf(table, values.at(table.name()));
  }
  return out + freeTable(deck, "constants") + freeTable(deck, "notes");
}

std::string valueLines(const Deck& deck, const Schema& schema,
                       const std::function<bool(std::string_view)>& wanted) {
  std::string lines;
  const auto values = allValues(deck, schema);
  for (const ParameterTable& table : schema.tables()) {
    addLines(table, values.at(table.name()), wanted, lines);
  }
  for (const Constant& constant : constantsOf(deck)) {
    const std::string name = "constants." + constant.name;
    if (wanted(name)) lines += name + " = " + detail::tomlNumber(constant.value) + "\n";
  }
  return lines;
}

std::vector<ParameterChange> changedParameters(const Deck& oldDeck, const Deck& newDeck,
                                               const Schema& schema) {
  const auto before = allValues(oldDeck, schema);
  const auto after = allValues(newDeck, schema);
  Comparison comparison;
  for (const ParameterTable& table : schema.tables()) {
    comparison.tables(table, before.at(table.name()), after.at(table.name()));
  }
  comparison.constants(oldDeck, newDeck);
  return std::move(comparison.changes);
}

}  // namespace tessera
