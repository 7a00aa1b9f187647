#include "core/deck/detail/toml_reader.hpp"

#include <algorithm>
#include <utility>

#include <toml++/toml.h>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/detail/toml_limits.hpp"
#include "core/deck/detail/toml_syntax_error.hpp"
#include "core/text/error.hpp"

namespace tessera::detail {

namespace {

using File = std::shared_ptr<const std::string>;

DeckLocation placeOf(const toml::source_region& region, const File& file) {
  if (!file) return DeckLocation::onCommandLine();
  return DeckLocation::inFile(file, region.begin.line, region.begin.column);
}

class Conversion {
 public:
  explicit Conversion(const File& file) : file_(file) {}

  DeckNode root(const toml::table& table) {
    DeckNode node;
    addChildren(node, table, 1);
    findings_.throwIfErrors();
    return node;
  }

 private:
  DeckNode convert(const toml::node& from, int depth) {
    DeckNode node;
    node.where = placeOf(from.source(), file_);
    node.keyWhere = node.where;
    if (const auto* table = from.as_table()) {
      addChildren(node, *table, depth + 1);
    } else if (const auto* array = from.as_array()) {
      addElements(node, *array, depth + 1);
    } else {
      addValue(node, from);
    }
    return node;
  }

  void addChildren(DeckNode& node, const toml::table& table, int depth) {
    if (isTooDeep(node, depth)) return;
    node.kind = DeckKind::Table;
    node.children.reserve(table.size());
    for (const auto& [key, value] : table) {
      DeckNode child = convert(value, depth);
      child.key = std::string(key.str());
      child.keyWhere = placeOf(key.source(), file_);
      node.children.push_back(std::move(child));
    }
    const auto place = [](const DeckNode& n) { return std::pair(n.keyWhere.line(), n.keyWhere.column()); };
    std::stable_sort(node.children.begin(), node.children.end(),
                     [&](const DeckNode& a, const DeckNode& b) { return place(a) < place(b); });
  }

  void addElements(DeckNode& node, const toml::array& array, int depth) {
    if (isTooDeep(node, depth)) return;
    node.kind = DeckKind::Array;
    node.children.reserve(array.size());
    for (const toml::node& element : array) node.children.push_back(convert(element, depth));
  }

  void addValue(DeckNode& node, const toml::node& from) {
    if (const auto* integer = from.as_integer()) {
      node.kind = DeckKind::Integer;
      node.value = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
      node.kind = DeckKind::Real;
      node.value = real->get();
    } else if (const auto* text = from.as_string()) {
      node.kind = DeckKind::Text;
      node.value = text->get();
    } else if (const auto* boolean = from.as_boolean()) {
      node.kind = DeckKind::Boolean;
      node.value = boolean->get();
    } else {
      findings_.error(node.where,
                      "a deck has no dates or times; write a text in quotes or a number of seconds");
    }
  }

  // One finding for each subtree that is cut off, none for what lies in it.
  bool isTooDeep(const DeckNode& node, int depth) {
    if (depth <= Deck::kMaxDepth + 1) return false;
    findings_.error(node.where,
                    "tables and lists are nested more than " + std::to_string(Deck::kMaxDepth) + " deep");
    return true;
  }

  File file_;
  DeckDiagnostics findings_;
};

}  // namespace

DeckNode readToml(std::string_view text, const File& file) {
  checkTomlLimits(text, file);
  try {
    return Conversion(file).root(toml::parse(text));
  } catch (const toml::parse_error& fault) {
    const toml::source_position place = fault.source().begin;
    throwSyntaxError(text, file, {place.line, place.column, std::string(fault.description())});
  }
}

}  // namespace tessera::detail
