#include "tools/simulation/deck/unit_table.hpp"

#include <algorithm>
#include <cctype>

#include "core/text/unit_product.hpp"

namespace tessera {
namespace {

/// The words that variables and keys of this repository use for what they measure.
const char* const kWords[] = {"length", "time",   "mass",  "temperature",
                              "amount", "energy", "power", "pressure"};
constexpr std::size_t kLongest = 24;

bool isWord(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool isUnit(const std::string& text) {
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view(" ^*/()._-%").find(c) < 10;
  });
}

void checkUnits(const ParameterValues& units, DeckDiagnostics& findings) {
  for (const char* word : kWords) {
    if (!units.has(word) || isUnit(units.text(word))) continue;
    findings.error(units.where(word),
                   "\"" + units.text(word) +
                       "\" is not a unit; use 1 to 24 letters, digits, blanks and ^ * / ( ) "
                       ". _ - %, for example \"kg\"");
  }
}

}  // namespace

std::string UnitNames::in(std::string_view unit) const {
  std::string text;
  for (std::size_t begin = 0; begin < unit.size();) {
    std::size_t end = begin;
    while (end < unit.size() && isWord(unit[end])) ++end;
    const std::string_view word = unit.substr(begin, end - begin);
    const auto known =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == word; });
    text += known == names.end() ? word : std::string_view(known->second);
    if (end < unit.size()) text += unit[end++];
    begin = end;
  }
  return text;
}

std::string UnitNames::inProduct(std::string_view unit) const {
  const std::string named = in(unit);
  return unit.find(" * ") == std::string_view::npos ? named : unitProduct(named);
}

ParameterTable unitTable() {
  ParameterTable table("units",
                       "What the numbers are in, for labels of pictures and files; nothing is converted");
  for (const char* word : kWords)
    table.text(word).doc("the unit of " + std::string(word) + ", for people").optional().mayChangeOnRestart();
  table.check(checkUnits);
  return table;
}

UnitNames unitNamesOf(const ParameterValues& units) {
  UnitNames found;
  for (const char* word : kWords) {
    if (units.has(word)) found.names.emplace_back(word, units.text(word));
  }
  return found;
}

}  // namespace tessera
