#pragma once

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "components/expression_fill.hpp"
#include "core/text/error.hpp"

namespace tessera {

/// Which numbers an expression of the deck may give, and what a report calls it; anything without a name.
struct NumberRange {
  std::string key;      ///< "rmcrt.solid.emissivity"
  std::string where{};  ///< file and line of the deck
  double usual = 0.0;   ///< where the deck does not give it
  double most = std::numeric_limits<double>::infinity();
  const char* words = "from 0 on";

  bool holds(double value) const {
    return key.empty() || (value >= 0.0 && value <= most && std::isfinite(value));
  }
};

/// As `fill`; DeckError names the first cell with a number beyond the range.
template <class Task>
void fillWithin(const Task& task, Label<double, Cell> label, const Expression& expression,
                const NumberRange& range) {
  fillChecked(task, label, expression, task.time(), [&](Index x, double value) {
    if (range.holds(value)) return;
    std::ostringstream text;
    text << range.where << ": error: " << range.key << " is " << value << " in cell " << asText(x)
         << " of level " << task.level().number() << "; let it be " << range.words << " in all solid cells";
    throw DeckError(text.str());
  });
}

}  // namespace tessera
