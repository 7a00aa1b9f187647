#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/deck/deck_location.hpp"
#include "core/deck/expression.hpp"
#include "core/geometry/index.hpp"

namespace tessera {

/// The checked values of one table, defaults filled in. Names are those of the declaration, without the name
/// of the table ("cells", "boundary.x_low.type"). Asking for a name that was not declared, for another type,
/// or for an optional value that is not there is an InternalError: the mistake is in the program, not in the
/// deck. A plain value; any thread may read it.
class ParameterValues {
 public:
  /// The deck gives it, or it has a default.
  bool has(std::string_view name) const;

  /// Where the value came from; Where::Origin::Default also for an optional value that is not there.
  DeckLocation where(std::string_view name) const;

  double real(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::string& choice(std::string_view name) const { return text(name); }
  const Expression& expression(std::string_view name) const;
  /// All expressions among the values, those of nested tables included.
  std::vector<Expression> expressions() const;

  Real3 vector3(std::string_view name) const;                  ///< of a realVector of length 3
  Index integers3(std::string_view name) const;                ///< of an integerVector of length 3
  std::array<bool, 3> booleans3(std::string_view name) const;  ///< of a booleanVector of length 3
  const std::vector<double>& reals(std::string_view name) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  const std::vector<bool>& booleans(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;

  /// The tables of `[[table.name]]` in the order of the deck; empty if there are none.
  const std::vector<ParameterValues>& tables(std::string_view name) const;

  /// The table's name in the deck, and the place of its header (or Where() if the deck does not have it).
  const std::string& table() const { return table_; }
  const DeckLocation& tableWhere() const { return tableWhere_; }

  using Value = std::variant<std::monostate, double, std::int64_t, bool, std::string, Expression,
                             std::vector<double>, std::vector<std::int64_t>, std::vector<bool>,
                             std::vector<std::string>, std::vector<ParameterValues>>;

  /// Sets one declared name; for the checker, and for tests of rules. monostate means that the deck leaves it
  /// out.
  void put(std::string name, Value value, DeckLocation where);
  void setTable(std::string name, DeckLocation where);

  /// The value whatever its type; monostate for an optional one that is not there.
  const Value& value(std::string_view name) const;

 private:
  struct Entry {
    Value value;
    DeckLocation where;
  };
  const Entry& entry(std::string_view name) const;
  template <class T>
  const T& get(std::string_view name, std::string_view type) const;

  std::string table_;
  DeckLocation tableWhere_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace tessera
