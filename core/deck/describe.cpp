#include <algorithm>

#include "core/deck/detail/describe_json.hpp"
#include "core/deck/detail/value_reader.hpp"
#include "core/deck/schema.hpp"
#include "core/text/error.hpp"
#include "core/text/message_text.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera {

namespace {

constexpr std::string_view kConstantsDoc = "Named numbers for expressions; each may use those above it";
constexpr std::string_view kNotesDoc = "Free text for people; never read by the program";

std::string presenceText(const Parameter& parameter) {
  switch (parameter.presence()) {
    case Parameter::Presence::Required:
      return "required";
    case Parameter::Presence::Defaulted:
      return "default " + parameter.defaultValue()->toml();
    case Parameter::Presence::Optional:
      return "optional";
  }
  return "";
}

std::string typeText(const Parameter& parameter) {
  const std::string range = detail::rangeText(parameter);
  return detail::expectedText(parameter) + (range.empty() ? "" : ", " + range);
}

void describeText(const ParameterTable& table, std::string_view brackets, std::string& out) {
  const bool isList = brackets == "[[";
  out += (out.empty() ? "" : "\n") + std::string(brackets) + table.name() + (isList ? "]]" : "]") + "  " +
         table.doc() + "\n";
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) continue;
    out += "  " + parameter.name() + detail::unitSuffix(parameter) + ": " + typeText(parameter) + "; " +
           presenceText(parameter) + (parameter.changesOnRestart() ? "; may change on restart" : "") + "\n";
    if (!parameter.docText().empty()) out += "      " + parameter.docText() + "\n";
  }
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) describeText(parameter.nested(), "[[", out);
  }
}

/// '|' would end the cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

std::string codeCell(const std::string& text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

void describeMarkdown(const ParameterTable& table, std::string_view brackets, std::string& out) {
  const bool isList = brackets == "[[";
  out += (out.empty() ? "" : "\n") + std::string("## `") + std::string(brackets) + table.name() +
         (isList ? "]]`" : "]`") + "\n\n" + table.doc() +
         "\n\n| key | value | unit | default | restart | meaning |\n|---|---|---|---|---|---|\n";
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) continue;
    const bool hasDefault = parameter.presence() == Parameter::Presence::Defaulted;
    out += "| " + codeCell(parameter.name()) + " | " + cell(typeText(parameter)) + " | " +
           cell(parameter.unitText()) + " | " +
           (hasDefault ? codeCell(parameter.defaultValue()->toml()) : presenceText(parameter)) + " | " +
           (parameter.changesOnRestart() ? "may change" : "fixed") + " | " + cell(parameter.docText()) +
           " |\n";
  }
  for (const Parameter& parameter : table.parameters()) {
    if (parameter.type() == ParameterType::Tables) describeMarkdown(parameter.nested(), "[[", out);
  }
}

/// A table of free names, which no component declares.
bool isFree(std::string_view name) { return name == "constants" || name == "notes"; }

std::string describeFree(std::string_view name, bool asText) {
  const bool isConstants = name == "constants";
  const std::string header = "[" + std::string(name) + "]";
  std::string out = asText ? header + "  " : "## `" + header + "`\n\n";
  out += std::string(isConstants ? kConstantsDoc : kNotesDoc) + "\n";
  const std::string example =
      isConstants ? "width = 0.1                  # a number\n"
                    "half = \"width / 2\"           # or an expression of those above, and pi\n"
                  : "author = \"N. N.\"            # any name, any value\n";
  if (!asText) return out + "\n```toml\n" + header + "\n" + example + "```\n";
  for (std::size_t at = 0; at < example.size(); at = example.find('\n', at) + 1)
    out += "  " + example.substr(at, example.find('\n', at) + 1 - at);
  return out;
}

/// The tables asked for, selected ones first.
std::vector<const ParameterTable*> tablesOf(const Schema& schema, std::string_view name) {
  std::vector<const ParameterTable*> tables;
  std::vector<std::string> names;
  for (const auto* group : {&schema.tables(), &schema.unselected()}) {
    for (const ParameterTable& table : *group) {
      names.push_back(table.name());
      if (name.empty() || table.name() == name) tables.push_back(&table);
    }
  }
  if (tables.empty() && !name.empty() && !isFree(name)) {
    const std::string table(name.substr(0, name.find('.')));
    if (table != name && std::find(names.begin(), names.end(), table) != names.end()) {
      throw UsageError(Message(detail::quotedKey(std::string(name)) +
                               " is not a table; describe takes tables and components")
                           .line("fix  all keys of [", table, "]: tessera describe ", table)
                           .text());
    }
    names.insert(names.end(), {"constants", "notes"});
    throw UsageError("there is no table or component " + detail::quotedKey(name) +
                     didYouMeanOneOf(name, names));
  }
  return tables;
}

}  // namespace

std::string describe(const Schema& schema, DescribeFormat format, std::string_view table) {
  const auto tables = tablesOf(schema, table);
  if (format == DescribeFormat::JsonSchema) return detail::jsonSchemaText(schema, tables);
  std::string out;
  for (const ParameterTable* one : tables) {
    if (format == DescribeFormat::Text) {
      describeText(*one, "[", out);
    } else {
      describeMarkdown(*one, "[", out);
    }
  }
  const bool isText = format == DescribeFormat::Text;
  for (const std::string_view name : {"constants", "notes"}) {
    if (table.empty() || table == name) out += (out.empty() ? "" : "\n") + describeFree(name, isText);
  }
  return out;
}

}  // namespace tessera
