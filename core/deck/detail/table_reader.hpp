#pragma once

#include <string>

#include "core/deck/schema.hpp"

namespace tessera::detail {

/// Reads one table of a deck against its declaration: unknown keys, missing keys, wrong values, then the
/// table's own rules. All faults go to the findings; the values are complete if none was added.
class TableReader {
 public:
  TableReader(const Deck& deck, const Schema& schema, const Constants& constants)
      : deck_(deck), schema_(schema), constants_(constants) {}

  /// `node` is nullptr if the deck does not have the table; `path` is its name in messages ("grid.level[1]").
  ParameterValues read(const ParameterTable& table, const DeckNode* node, const std::string& path,
                       DeckDiagnostics& findings) const;

 private:
  struct Reading;

  void walk(Reading& reading, const DeckNode& node, const std::string& prefix) const;
  void readParameter(Reading& reading, const Parameter& parameter) const;
  ParameterValues::Value readTables(Reading& reading, const Parameter& parameter, const DeckNode& node) const;
  void reportMissing(Reading& reading, const Parameter& parameter) const;
  DeckLocation startOfDeck() const;

  const Deck& deck_;
  const Schema& schema_;
  const Constants& constants_;
};

/// The values of [constants], in the order of the deck; each may use those above it. Faulty ones are left
/// out.
Constants readConstants(const Deck& deck, DeckDiagnostics& findings);

}  // namespace tessera::detail
