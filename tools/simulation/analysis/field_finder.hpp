#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/deck/deck_diagnostics.hpp"
#include "tools/simulation/analysis/analysis_field.hpp"

namespace tessera {

/// Finds what a table of the deck names among the variables that live from step to step: "temperature",
/// "gas.density". What is wrong is noted as an error of the deck.
class FieldFinder {
 public:
  /// `table`: who asks, for people: "[analysis]".
  FieldFinder(std::string table, const LabelTable& labels, std::span<const LabelId> persistent,
              DeckDiagnostics& findings);

  /// A variable of one double a cell, node or face, or one component; an empty field where it is none.
  AnalysisField find(const std::string& name, const DeckLocation& where);
  /// A variable of one double a cell, or one component; an empty field where it is none.
  AnalysisField ofCells(const std::string& name, const DeckLocation& where);
  /// Variables as a whole, or components of them; numbers of any kind.
  std::vector<PlaneField> ofPlane(const std::vector<std::string>& names, const DeckLocation& where);

 private:
  struct Place {
    LabelId label = -1;
    std::int32_t component = 0;
  };

  void addNames(LabelId label);
  /// Nothing, and an error, where no variable of that name lives.
  const Place* placeOf(const std::string& name, const DeckLocation& where);
  /// "[analysis] names the variable "x", which ".
  std::string head(const std::string& name) const;

  const std::string table_;
  const LabelTable& labels_;
  DeckDiagnostics& findings_;
  std::vector<std::string> names_;
  std::vector<Place> places_;  ///< of `names_`
};

}  // namespace tessera
