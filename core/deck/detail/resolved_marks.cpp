#include "core/deck/detail/resolved_marks.hpp"

#include <cstdint>
#include <vector>

#include "core/text/message_text.hpp"

namespace tessera::detail {
namespace {

/// Of each line, from 1 on, whether its value is a default.
std::vector<bool> markedLines(std::string_view text) {
  const std::string mark = originMark(DeckLocation());
  std::vector<bool> marked{false};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    marked.push_back(line.size() > mark.size() && line.front() != '#' && line.ends_with(mark));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return marked;
}

void recall(DeckNode& node, const std::vector<bool>& marked) {
  const auto line = static_cast<std::size_t>(node.where.line());
  if (node.kind != DeckKind::Table && line < marked.size() && marked[line]) node.where = DeckLocation();
  for (DeckNode& child : node.children) recall(child, marked);
}

}  // namespace

std::string originMark(const DeckLocation& where) { return "  # " + printable(where.shortText()); }

void recallDefaults(DeckNode& root, std::string_view text) {
  if (text.starts_with(kResolvedHead)) recall(root, markedLines(text));
}

}  // namespace tessera::detail
