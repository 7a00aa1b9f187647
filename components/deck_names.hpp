#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/deck/parameters.hpp"

namespace tessera {

/// What the names of a component's own quantities have to be, each the key `name` of a table of the deck.
struct DeckNames {
  std::string one;                ///< what a name is of, for people: "quantity"
  std::string several;            ///< "quantities"
  std::size_t most = 0;           ///< of them at most
  std::set<std::string> taken{};  ///< by the component itself
};

/// Notes an error for each name that cannot be one, or that is there already, and where there are too many.
void checkNames(const std::vector<ParameterValues>& tables, const DeckNames& names,
                DeckDiagnostics& findings);

}  // namespace tessera
