#include "components/deck_names.hpp"

#include <algorithm>

namespace tessera {
namespace {

bool mayBeName(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

void checkNames(const std::vector<ParameterValues>& tables, const DeckNames& names,
                DeckDiagnostics& findings) {
  if (tables.size() > names.most) {
    findings.error(tables.back().where("name"), "there are more than " + std::to_string(names.most) + " " +
                                                    names.several + "; leave some of them out");
  }
  std::set<std::string> known;
  for (const ParameterValues& table : tables) {
    const std::string& name = table.text("name");
    const std::string quoted = "\"" + name + "\"";
    if (!mayBeName(name)) {
      findings.error(table.where("name"),
                     quoted + " cannot name a " + names.one + "; use 1 to 40 letters, digits and '_'");
    } else if (names.taken.count(name) > 0) {
      findings.error(table.where("name"), quoted + " is taken; give this " + names.one + " another name");
    } else if (!known.insert(name).second) {
      findings.error(table.where("name"), quoted + " is the name of another " + names.one + " as well");
    }
  }
}

}  // namespace tessera
