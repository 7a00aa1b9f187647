#include "core/deck/detail/toml_syntax_error.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/deck/deck_diagnostics.hpp"
#include "core/deck/detail/toml_reader.hpp"
#include "core/text/error.hpp"
#include "core/text/message_text.hpp"

namespace tessera::detail {

namespace {

using File = std::shared_ptr<const std::string>;

/// "Error while parsing <part>: <reason>", taken apart.
struct Reason {
  std::string part;
  std::string text;
};

Reason reasonOf(const std::string& description) {
  constexpr std::string_view kHead = "Error while parsing ";
  const std::size_t colon = description.find(": ");
  if (description.rfind(kHead, 0) != 0 || colon == std::string::npos) return {"", description};
  return {description.substr(kHead.size(), colon - kHead.size()), description.substr(colon + 2)};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Byte offset at which `line` begins.
std::size_t offsetOf(std::string_view text, std::int64_t line) {
  std::size_t at = 0;
  for (std::int64_t i = 1; i < line && at < text.size(); ++i)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

std::string_view lineAt(std::string_view text, std::int64_t line) {
  const std::string_view rest = text.substr(offsetOf(text, line));
  return rest.substr(0, std::min(rest.find('\n'), rest.size()));
}

bool isHeader(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '[';
}

/// The last table header above the line that begins at `offset`, or nothing.
std::string headerAbove(std::string_view text, std::size_t offset) {
  while (offset > 0) {
    const std::size_t end = offset - 1;
    const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    offset = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view candidate = text.substr(offset, end - offset);
    if (isHeader(candidate)) return std::string(candidate) + "\n";
  }
  return {};
}

/// The node of `tree` that the path of single children in `path` names, as deep as there is one; of an array
/// the last element.
const DeckNode* sameNode(const DeckNode& path, const DeckNode& tree) {
  const DeckNode* at = &tree;
  for (const DeckNode* step = &path; !step->children.empty();) {
    step = &step->children.front();
    if (at->kind == DeckKind::Array && !at->children.empty()) at = &at->children.back();
    if (step->key.empty()) continue;
    const DeckNode* next = at->child(step->key);
    if (next == nullptr) break;
    at = next;
  }
  return at == &tree ? nullptr : at;
}

std::string lastKey(const DeckNode& path) {
  std::string key = path.key;
  for (const DeckNode* step = &path; !step->children.empty();) {
    step = &step->children.front();
    if (!step->key.empty()) key = step->key;
  }
  return key;
}

/// The line with the second use of a key: `key = ...` or a table header.
struct DoubledLine {
  std::string written;                ///< the key or header as it stands there
  std::int64_t column = 1;            ///< where that begins
  std::optional<DeckLocation> first;  ///< the first use, if it can be found
};

/// Reads the faulty line as the first words of a deck of its own. Nothing if another key is meant, such as
/// one inside an inline table.
std::optional<DoubledLine> doubledLine(std::string_view text, const File& file, std::int64_t number,
                                       std::string_view key) {
  const std::size_t offset = offsetOf(text, number);
  const std::string_view line = lineAt(text, number);
  const std::string_view written = line.substr(0, line.find(isHeader(line) ? '#' : '='));
  const std::size_t begin = written.find_first_not_of(" \t");
  const std::size_t end = written.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos) return std::nullopt;
  DoubledLine found{
      std::string(written.substr(begin, end - begin + 1)), static_cast<std::int64_t>(begin) + 1, {}};
  try {
    const DeckNode path = isHeader(line) ? readToml(found.written, file)
                                         : readToml(headerAbove(text, offset) + found.written + " = 0", file);
    if (!key.empty() && lastKey(path) != key.substr(key.rfind('.') + 1)) return std::nullopt;
    const DeckNode earlier = readToml(text.substr(0, offset), file);
    const DeckNode* node = sameNode(path, earlier);
    if (node != nullptr) found.first = node->keyWhere;
  } catch (const DeckError&) {
    return found;  // the text above is no deck by itself: the first place stays unknown
  }
  return found;
}

std::string doubledKey(std::string_view text, const File& file, TomlFault& fault) {
  const std::size_t quote = fault.description.find('\'');
  const std::size_t closing = fault.description.rfind('\'');
  const std::string key =
      quote == std::string::npos ? "" : fault.description.substr(quote + 1, closing - quote - 1);
  const std::optional<DoubledLine> line = file ? doubledLine(text, file, fault.line, key) : std::nullopt;
  if (!line) return (key.empty() ? std::string("a key") : quotedKey(key)) + " is given twice";
  fault.column = line->column;
  return quotedKey(line->written) + " is given twice" +
         (line->first ? "; the first is at line " + std::to_string(line->first->line()) : "");
}

/// Columns count characters, so the end of the line is counted here too.
bool isAtLineEnd(std::string_view text, std::int64_t number, std::int64_t column) {
  const std::string_view line = lineAt(text, number);
  const auto isFirstByte = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U && c != '\r';
  };
  return column > std::count_if(line.begin(), line.end(), isFirstByte);
}

/// The parser stands behind a number that it cannot use; the message begins at the number.
void moveToToken(TomlFault& fault, const std::string& reason) {
  const std::size_t end = reason.find('\'', 1);
  if (reason.empty() || reason[0] != '\'' || end == std::string::npos) return;
  fault.column = std::max<std::int64_t>(1, fault.column - static_cast<std::int64_t>(end - 1));
}

std::string sentence(std::string_view text, const File& file, TomlFault& fault) {
  const Reason reason = reasonOf(fault.description);
  if (contains(reason.text, "cannot redefine existing")) return doubledKey(text, file, fault);
  if (contains(reason.text, "is not representable in 64 bits")) {
    moveToToken(fault, reason.text);
    return reason.text.substr(0, reason.text.find(" is not")) +
           " does not fit a 64-bit integer; write it with a point or an exponent if a real number is meant";
  }
  if (contains(reason.text, "could not be interpreted as a value")) {
    moveToToken(fault, reason.text);
    return reason.text.substr(0, reason.text.find(" could not")) +
           " is not a number that a double can hold (at most 1.7976931348623157e308)";
  }
  if (contains(reason.text, "could not determine value type")) {
    return "this is neither a number, true or false, a list nor a text; a text needs quotes: \"...\"";
  }
  if (contains(reason.text, "expected value, saw")) return "a value is missing here";
  if (contains(reason.text, "control characters") && isAtLineEnd(text, fault.line, fault.column)) {
    return "a text is not closed on this line";
  }
  if (contains(reason.text, "invalid utf-8")) return "this is not UTF-8 text; a deck is a TOML text";
  return "not TOML: " + reason.text + (reason.part.empty() ? "" : " (in this " + reason.part + ")");
}

}  // namespace

void throwSyntaxError(std::string_view text, const File& file, TomlFault fault) {
  const std::string what = sentence(text, file, fault);
  const DeckLocation where =
      file ? DeckLocation::inFile(file, fault.line, fault.column) : DeckLocation::onCommandLine();
  throw DeckError(Finding{Finding::Severity::Error, where, what}.line());
}

}  // namespace tessera::detail
