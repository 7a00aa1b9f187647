#include "core/deck/parameter_values.hpp"

#include <utility>

#include "core/text/error.hpp"

namespace tessera {

const ParameterValues::Entry& ParameterValues::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  throw InternalError(Message("[" + table_ + "] has no parameter '" + std::string(name) + "'")
                          .line("fix  declare it in the ParameterTable of [", table_, "]")
                          .text());
}

template <class T>
const T& ParameterValues::get(std::string_view name, std::string_view type) const {
  const Value& value = entry(name).value;
  if (const T* held = std::get_if<T>(&value)) return *held;
  const bool isUnset = std::holds_alternative<std::monostate>(value);
  throw InternalError(Message("'" + table_ + "." + std::string(name) + "' " +
                              (isUnset ? "is optional and not in the deck" : "is not " + std::string(type)))
                          .line("fix  ", isUnset ? "ask has() first, or declare a default"
                                                 : "ask for the type that was declared")
                          .text());
}

bool ParameterValues::has(std::string_view name) const {
  return !std::holds_alternative<std::monostate>(entry(name).value);
}

DeckLocation ParameterValues::where(std::string_view name) const { return entry(name).where; }

const ParameterValues::Value& ParameterValues::value(std::string_view name) const {
  return entry(name).value;
}

double ParameterValues::real(std::string_view name) const { return get<double>(name, "a real"); }

std::int64_t ParameterValues::integer(std::string_view name) const {
  return get<std::int64_t>(name, "an integer");
}

bool ParameterValues::boolean(std::string_view name) const { return get<bool>(name, "a boolean"); }

const std::string& ParameterValues::text(std::string_view name) const {
  return get<std::string>(name, "a text");
}

const Expression& ParameterValues::expression(std::string_view name) const {
  return get<Expression>(name, "an expression");
}

std::vector<Expression> ParameterValues::expressions() const {
  std::vector<Expression> all;
  for (const auto& [name, entry] : entries_) {
    if (const auto* one = std::get_if<Expression>(&entry.value)) all.push_back(*one);
    if (const auto* nested = std::get_if<std::vector<ParameterValues>>(&entry.value)) {
      for (const ParameterValues& values : *nested) {
        for (const Expression& one : values.expressions()) all.push_back(one);
      }
    }
  }
  return all;
}

const std::vector<double>& ParameterValues::reals(std::string_view name) const {
  return get<std::vector<double>>(name, "a vector of reals");
}

const std::vector<std::int64_t>& ParameterValues::integers(std::string_view name) const {
  return get<std::vector<std::int64_t>>(name, "a vector of integers");
}

const std::vector<bool>& ParameterValues::booleans(std::string_view name) const {
  return get<std::vector<bool>>(name, "a vector of booleans");
}

const std::vector<std::string>& ParameterValues::texts(std::string_view name) const {
  return get<std::vector<std::string>>(name, "a list of texts");
}

const std::vector<ParameterValues>& ParameterValues::tables(std::string_view name) const {
  return get<std::vector<ParameterValues>>(name, "a list of tables");
}

Real3 ParameterValues::vector3(std::string_view name) const {
  const auto& v = reals(name);
  if (v.size() != 3)
    throw InternalError("'" + table_ + "." + std::string(name) + "' was not declared with length 3");
  return {v[0], v[1], v[2]};
}

Index ParameterValues::integers3(std::string_view name) const {
  const auto& v = integers(name);
  if (v.size() != 3)
    throw InternalError("'" + table_ + "." + std::string(name) + "' was not declared with length 3");
  return {v[0], v[1], v[2]};
}

std::array<bool, 3> ParameterValues::booleans3(std::string_view name) const {
  const auto& v = booleans(name);
  if (v.size() != 3)
    throw InternalError("'" + table_ + "." + std::string(name) + "' was not declared with length 3");
  return {v[0], v[1], v[2]};
}

void ParameterValues::put(std::string name, Value value, DeckLocation where) {
  entries_.insert_or_assign(std::move(name), Entry{std::move(value), std::move(where)});
}

void ParameterValues::setTable(std::string name, DeckLocation where) {
  table_ = std::move(name);
  tableWhere_ = std::move(where);
}

}  // namespace tessera
