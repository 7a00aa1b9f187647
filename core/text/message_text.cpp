#include "core/text/message_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace tessera::detail {

namespace {

constexpr std::size_t kLongestQuote = 60;

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

Character firstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!isContinuation(text[i])) return {};
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool tooLong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (tooLong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

// Control characters could forge lines of a log or move the cursor; direction marks could make a key look
// like another one.
bool mustEscape(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string escape(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", code);
  return buffer;
}

std::string printableUpTo(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == limit) return out + "...";
    const Character c = firstCharacter(text);
    if (c.bytes == 0) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(text[0])));
      out += buffer;
    } else {
      out += mustEscape(c.code) ? escape(c.code) : std::string(text.substr(0, c.bytes));
    }
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return printableUpTo(text, text.size()); }

std::string shortened(std::string_view text) { return printableUpTo(text, kLongestQuote); }

std::string quotedText(std::string_view text) { return '"' + printableUpTo(text, kLongestQuote) + '"'; }

std::string quotedKey(std::string_view key) { return '\'' + printableUpTo(key, kLongestQuote) + '\''; }

std::string listText(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), limit); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > limit) out += ", ... (" + std::to_string(names.size() - limit) + " more)";
  return out;
}

}  // namespace tessera::detail
