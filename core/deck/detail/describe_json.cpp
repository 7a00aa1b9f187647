#include "core/deck/detail/describe_json.hpp"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/deck/detail/value_reader.hpp"

namespace tessera::detail {

namespace {

using Json = nlohmann::ordered_json;

Json literal(const DeckNode& node) {
  switch (node.kind) {
    case DeckKind::Integer:
      return node.integer();
    case DeckKind::Real:
      return node.real();
    case DeckKind::Text:
      return node.text();
    case DeckKind::Boolean:
      return node.boolean();
    case DeckKind::Array: {
      Json list = Json::array();
      for (const DeckNode& child : node.children) list.push_back(literal(child));
      return list;
    }
    case DeckKind::Table:
      return Json::object();
  }
  return {};
}

void addRange(Json& schema, const Parameter& parameter) {
  if (parameter.lower())
    schema[parameter.lower()->open ? "exclusiveMinimum" : "minimum"] = parameter.lower()->value;
  if (parameter.upper())
    schema[parameter.upper()->open ? "exclusiveMaximum" : "maximum"] = parameter.upper()->value;
}

Json listOf(const Parameter& parameter, std::string_view type) {
  Json items = {{"type", type}};
  addRange(items, parameter);
  Json schema = {{"type", "array"}, {"items", items}};
  if (parameter.length() > 0) {
    schema["minItems"] = parameter.length();
    schema["maxItems"] = parameter.length();
  }
  return schema;
}

Json tableSchema(const ParameterTable& table);

Json typeSchema(const Parameter& parameter) {
  Json schema;
  switch (parameter.type()) {
    case ParameterType::Real:
      schema["type"] = "number";
      break;
    case ParameterType::Integer:
      schema["type"] = "integer";
      break;
    case ParameterType::Boolean:
      schema["type"] = "boolean";
      break;
    case ParameterType::Text:
      schema["type"] = "string";
      break;
    case ParameterType::Choice:
      schema["enum"] = parameter.choices();
      break;
    case ParameterType::Expression:
      schema["type"] = {"number", "string"};
      break;
    case ParameterType::RealVector:
      return listOf(parameter, "number");
    case ParameterType::IntegerVector:
      return listOf(parameter, "integer");
    case ParameterType::BooleanVector:
      return listOf(parameter, "boolean");
    case ParameterType::TextList:
      return listOf(parameter, "string");
    case ParameterType::Tables:
      return {{"type", "array"}, {"items", tableSchema(parameter.nested())}};
  }
  addRange(schema, parameter);
  return schema;
}

Json parameterSchema(const Parameter& parameter) {
  Json schema = typeSchema(parameter);
  const std::string text = parameter.docText() + unitSuffix(parameter);
  if (!text.empty()) schema["description"] = text;
  if (parameter.defaultValue()) schema["default"] = literal(*parameter.defaultValue());
  return schema;
}

void require(Json& object, const std::string& key) {
  Json& required = object["required"];
  if (std::find(required.begin(), required.end(), key) == required.end()) required.push_back(key);
}

Json emptyObject() {
  return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
}

/// Puts the parameter under its dotted path, making the objects on the way.
void place(Json& object, std::string_view path, const Parameter& parameter) {
  const std::string key(path.substr(0, path.find('.')));
  const bool isRequired = parameter.presence() == Parameter::Presence::Required;
  if (isRequired) require(object, key);
  Json& properties = object["properties"];
  if (key.size() == path.size()) {
    properties[key] = parameterSchema(parameter);
    return;
  }
  if (!properties.contains(key)) properties[key] = emptyObject();
  place(properties[key], path.substr(key.size() + 1), parameter);
}

Json tableSchema(const ParameterTable& table) {
  Json schema = emptyObject();
  schema["description"] = table.doc();
  for (const Parameter& parameter : table.parameters()) place(schema, parameter.name(), parameter);
  return schema;
}

}  // namespace

std::string jsonSchemaText(const Schema& schema, const std::vector<const ParameterTable*>& tables) {
  Json top = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Tessera deck"}};
  top.update(emptyObject());
  for (const ParameterTable* table : tables) {
    top["properties"][table->name()] = tableSchema(*table);
    const bool isRead = schema.find(table->name()) == table;
    if (isRead && top["properties"][table->name()].contains("required")) require(top, table->name());
  }
  top["properties"]["constants"] = {{"type", "object"},
                                    {"additionalProperties", {{"type", {"number", "string"}}}}};
  top["properties"]["notes"] = {{"type", "object"}};
  return top.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::detail
