#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/deck.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/expression.hpp"
#include "core/deck/parameters.hpp"

namespace tessera {

/// All tables that a deck may have, in the order in which a person reads them. Two more are always known:
/// [constants] (free names -> numbers or constant expressions, for use in expressions) and [notes] (free,
/// ignored).
///
///   Schema schema;
///   schema.add(simulationTable);
///   schema.add(heatTable);
///   schema.addUnselected(waveTable);   // known, but not in simulation.components of this deck
///   check(deck, schema).throwIfErrors();
class Schema {
 public:
  /// A table that this run reads. Its required keys must be in the deck.
  void add(ParameterTable table);

  /// The table of a component that exists but that this deck did not select: it may not be in the deck.
  void addUnselected(ParameterTable table);

  const std::vector<ParameterTable>& tables() const { return tables_; }
  const std::vector<ParameterTable>& unselected() const { return unselected_; }

  /// The selected table of that name, or nullptr.
  const ParameterTable* find(std::string_view table) const;

 private:
  std::vector<ParameterTable> tables_;
  std::vector<ParameterTable> unselected_;
};

/// Everything that is wrong with the deck, all at once. Pure: touches nothing but its arguments.
DeckDiagnostics check(const Deck& deck, const Schema& schema);

/// The values of one selected table, defaults filled in. Throws DeckError if something in that table (or in
/// [constants]) is wrong; call check() first to show all faults together.
ParameterValues valuesOf(const Deck& deck, const Schema& schema, std::string_view table);

/// The values of [constants] in the order of the deck.
Constants constantsOf(const Deck& deck);

/// The contents of `resolved.toml`: every value of the run with its origin as a comment ("# default",
/// "# heat.toml:14", "# command line"; "# unset" for an optional key that the deck leaves out). It is a deck
/// that gives the same values, bit by bit. The deck must have passed check().
std::string resolvedText(const Deck& deck, const Schema& schema);

/// The values of the deck, one "time.cfl = 0.9" a line, without origins, and those of [constants]; what is
/// unset is left out. Only those for whose name ("time.cfl", "grid.level.lower") `wanted` says yes. The deck
/// must have passed check().
std::string valueLines(const Deck& deck, const Schema& schema,
                       const std::function<bool(std::string_view)>& wanted);

enum class DescribeFormat { Text, Markdown, JsonSchema };

/// The reference page of all keys of the schema, the selected and the unselected tables; JSON schema is draft
/// 2020-12, for completion in editors. With `table`, of that table only (UsageError if there is none).
std::string describe(const Schema& schema, DescribeFormat format, std::string_view table = {});

/// A parameter that a restart may not change, but does.
struct ParameterChange {
  std::string name;      ///< "grid.cells"
  std::string oldValue;  ///< as TOML, or "unset"
  std::string newValue;
  DeckLocation where;  ///< in the new deck
};

/// Compares two decks that have both passed check(); defaults count as values. [notes] may change.
std::vector<ParameterChange> changedParameters(const Deck& oldDeck, const Deck& newDeck,
                                               const Schema& schema);

}  // namespace tessera
