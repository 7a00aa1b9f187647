#include "components/sources/added_sources.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace tessera {
namespace {

struct NamedSource {
  std::string_view name;
  double factor = 1.0;
};

std::string_view withoutBlanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Nothing where the text is of another form.
std::optional<NamedSource> parse(std::string_view text) {
  NamedSource source;
  text = withoutBlanks(text);
  const std::size_t star = text.find('*');
  if (star != std::string_view::npos) {
    const std::string_view factor = withoutBlanks(text.substr(0, star));
    const auto end = std::from_chars(factor.data(), factor.data() + factor.size(), source.factor);
    if (end.ec != std::errc() || end.ptr != factor.data() + factor.size()) return std::nullopt;
    text = withoutBlanks(text.substr(star + 1));
  } else if (!text.empty() && text.front() == '-') {
    source.factor = -1.0;
    text = withoutBlanks(text.substr(1));
  }
  source.name = text;
  if (!isLabelName(text) || text.find('-') != std::string_view::npos) return std::nullopt;
  return source;
}

}  // namespace

void checkAddedSources(const ParameterValues& values, const char* key, DeckDiagnostics& findings) {
  if (!values.has(key)) return;
  for (const std::string& text : values.texts(key)) {
    if (parse(text)) continue;
    findings.error(values.where(key),
                   values.table() + "." + key + " has \"" + text +
                       "\"; give the name of a variable, with a sign or a factor before it: "
                       "\"rmcrt.divQ\", \"-rmcrt.divQ\", \"-0.5*rmcrt.divQ\"");
  }
}

std::vector<AddedSource> readAddedSources(const ParameterValues& values, const char* key,
                                          LabelTable& labels) {
  std::vector<AddedSource> sources;
  if (!values.has(key)) return sources;
  for (const std::string& text : values.texts(key)) {
    if (const auto source = parse(text))
      sources.push_back({labels.variable<double, Cell>(source->name), source->factor});
  }
  return sources;
}

void declareAddedSources(TaskBuilder task, Label<double, Cell> sum, const std::vector<AddedSource>& added,
                         Generation generation) {
  for (const AddedSource& one : added) task.reads(generation, one.label);
  task.modifies(sum).withoutDt().runs(addSources(sum, added, generation));
}

}  // namespace tessera
