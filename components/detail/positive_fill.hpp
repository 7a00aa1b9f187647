#pragma once

#include <string>

#include "components/expression_fill.hpp"
#include "core/text/error.hpp"

namespace tessera {

/// Looks at some cells of the box, its corners among them, so that most slips are found before a run begins.
/// DeckError where the expression is not above 0 in one of them.
void requirePositive(const Expression& expression, const Geometry& geometry, const std::string& place,
                     const char* key);

/// As `fill`, of a coefficient that has to be above 0 in every cell. `place`: where the deck gives it, `key`:
/// what it calls it. DeckError names the first cell where it is not.
template <class Task>
void fillPositive(const Task& task, Label<double, Cell> label, const Expression& expression,
                  const std::string& place, const char* key) {
  fillChecked(task, label, expression, task.time(), [&](Index x, double value) {
    if (value > 0.0) return;
    throw DeckError(place + ": error: " + key + " is " + std::to_string(value) + " in cell " + asText(x) +
                    "; give an expression that is above 0 everywhere");
  });
}

}  // namespace tessera
