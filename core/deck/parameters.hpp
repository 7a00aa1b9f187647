#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/deck.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/parameter_values.hpp"

namespace tessera {

class ParameterTable;

/// What kind of value a parameter takes.
enum class ParameterType {
  Real,
  Integer,
  Boolean,
  Text,
  Choice,         ///< one of a list of texts
  Expression,     ///< a number, or a formula as text
  RealVector,     ///< a fixed number of reals; a range holds for each
  IntegerVector,  ///< three integers
  BooleanVector,  ///< three values of true or false
  TextList,       ///< any number of texts
  Tables,         ///< `[[table.name]]`, any number of tables of one shape
};

/// One end of a range.
struct Bound {
  double value = 0.0;
  bool open = false;  ///< the value itself is not allowed
};

/// The declaration of one key: its type, its range, its default and its meaning.
/// Made by a ParameterTable and filled in by chained calls. Required, unless `defaultsTo` or `optional` is
/// called. A declaration that contradicts itself (a default out of range, say) is an InternalError at once.
class Parameter {
 public:
  enum class Presence { Required, Defaulted, Optional };

  Parameter& unit(std::string text);  ///< for people: "W/(m K)"; values are not converted
  Parameter& doc(std::string text);   ///< one sentence; also the text of the message when the key is missing

  Parameter& required();
  Parameter& optional();  ///< no default: ask `values.has(name)` before the value

  /// The value when the deck is silent: a number, true/false, a text, or a list such as {1, 1, 1}.
  template <class T>
  Parameter& defaultsTo(const T& value) {
    return setDefault(DeckNode::of(value));
  }
  template <class T>
  Parameter& defaultsTo(std::initializer_list<T> values) {
    return defaultsTo(std::vector<T>(values));
  }

  Parameter& atLeast(double value);                 ///< [value, ...
  Parameter& above(double value);                   ///< (value, ...
  Parameter& atMost(double value);                  ///< ..., value]
  Parameter& below(double value);                   ///< ..., value)
  Parameter& range(double lowest, double highest);  ///< [lowest, highest]

  /// A restart may use another value; without this a changed value is an error of `tessera restart`.
  Parameter& mayChangeOnRestart();

  const std::string& name() const { return name_; }
  ParameterType type() const { return type_; }
  Presence presence() const { return presence_; }
  const std::string& unitText() const { return unit_; }
  const std::string& docText() const { return doc_; }
  const std::optional<DeckNode>& defaultValue() const { return default_; }
  const std::optional<Bound>& lower() const { return lower_; }
  const std::optional<Bound>& upper() const { return upper_; }
  const std::vector<std::string>& choices() const { return choices_; }
  const std::vector<std::string>& variables() const { return variables_; }
  std::size_t length() const { return length_; }
  bool changesOnRestart() const { return changesOnRestart_; }
  const ParameterTable& nested() const { return *nested_; }  ///< of Tables only

 private:
  friend class ParameterTable;
  Parameter(std::string name, ParameterType type);
  Parameter& setDefault(DeckNode value);
  void expectConsistent() const;

  std::string name_;
  ParameterType type_;
  Presence presence_ = Presence::Required;
  std::string unit_;
  std::string doc_;
  std::optional<DeckNode> default_;
  std::optional<Bound> lower_;
  std::optional<Bound> upper_;
  std::vector<std::string> choices_;
  std::vector<std::string> variables_;
  std::size_t length_ = 0;
  bool changesOnRestart_ = false;
  std::shared_ptr<ParameterTable> nested_;
};

/// All keys of one table of the deck, declared before anything is read. A dotted name is a key of a
/// sub-table: "boundary.x_low.type". Declare on one thread; afterwards it is read only.
///
///   ParameterTable heat("heat", "Explicit heat conduction");
///   heat.real("conductivity").unit("W/(m K)").doc("thermal conductivity").above(0).required();
///   heat.expression("initial", {"x", "y", "z"}).doc("temperature at t = 0").defaultsTo(0);
///   heat.check([](const ParameterValues& heat, DeckDiagnostics& findings) { ... });
class ParameterTable {
 public:
  /// A rule across keys; runs only when every key of the table is right by itself.
  using Rule = std::function<void(const ParameterValues&, DeckDiagnostics&)>;

  ParameterTable(std::string name, std::string doc);

  Parameter& real(std::string name);
  Parameter& integer(std::string name);
  Parameter& boolean(std::string name);
  Parameter& text(std::string name);
  Parameter& choice(std::string name, std::vector<std::string> choices);
  Parameter& expression(std::string name, std::vector<std::string> variables = {"x", "y", "z", "t"});
  Parameter& realVector(std::string name, std::size_t length);
  Parameter& integerVector(std::string name, std::size_t length);
  Parameter& booleanVector(std::string name, std::size_t length);
  Parameter& textList(std::string name);

  /// Declares `[[this.name]]` and returns the shape of one of its tables, to be filled in. None is fine.
  ParameterTable& arrayOf(std::string name, std::string doc);

  void check(Rule rule);

  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const std::deque<Parameter>& parameters() const { return parameters_; }
  const std::vector<Rule>& rules() const { return rules_; }

  /// The declaration of that name, or nullptr.
  const Parameter* find(std::string_view name) const;

 private:
  Parameter& add(std::string name, ParameterType type);

  std::string name_;
  std::string doc_;
  std::deque<Parameter> parameters_;  // a deque: references handed out stay valid
  std::vector<Rule> rules_;
};

}  // namespace tessera
