#include "core/deck/detail/toml_limits.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/deck/deck.hpp"
#include "core/deck/deck_diagnostics.hpp"
#include "core/text/error.hpp"

namespace tessera::detail {

namespace {

class LimitScan {
 public:
  LimitScan(std::string_view text, const std::shared_ptr<const std::string>& file)
      : text_(text), file_(file) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skipString(c);
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') advance();
      } else {
        structure(c);
        advance();
      }
    }
  }

 private:
  void structure(char c) {
    if (c == '[' || c == '{') {
      if (++depth_ > Deck::kMaxDepth)
        refuse("brackets are nested more than " + limit(Deck::kMaxDepth) + " deep");
    } else if (c == ']' || c == '}') {
      depth_ -= depth_ > 0 ? 1 : 0;
    } else if (c == '.') {
      if (++dots_ >= Deck::kMaxDepth)
        refuse("a dotted key has more than " + limit(Deck::kMaxDepth) + " parts");
    }
    if (c == '=' || c == ',' || c == '\n') dots_ = 0;
    // The second dot of a word is no decimal point: it makes one more table.
    const bool isMore = c == '=' || c == ',' || c == '[' || c == '{' || (c == '.' && dots_ > 1);
    if (isMore && ++values_ > Deck::kMaxValues) {
      refuse("a deck may have at most " + limit(Deck::kMaxValues) + " values, lists and tables");
    }
  }

  void skipString(char quote) {
    const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
    const bool isLong = text_.substr(at_, 3) == triple;
    for (int i = 0; i < (isLong ? 3 : 1); ++i) advance();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        advance();
        if (at_ < text_.size()) advance();
        continue;
      }
      if (!isLong && c == '\n') return;  // not closed: the parser says so
      if (isLong ? text_.substr(at_, 3) == triple : c == quote) {
        for (int i = 0; i < (isLong ? 3 : 1); ++i) advance();
        return;
      }
      advance();
    }
  }

  void advance() {
    const char c = text_[at_];
    if (c == '\0') refuse("this is not a text file (it has a zero byte); a deck is a TOML text");
    ++at_;
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++column_;
    }
  }

  template <class Number>
  static std::string limit(Number value) {
    return std::to_string(value);
  }

  [[noreturn]] void refuse(std::string sentence) const {
    const DeckLocation where = DeckLocation::inFile(file_, line_, column_);
    throw DeckError(Finding{Finding::Severity::Error, where, std::move(sentence)}.line());
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::int64_t column_ = 1;
  int depth_ = 0;
  int dots_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

void checkTomlLimits(std::string_view text, const std::shared_ptr<const std::string>& file) {
  LimitScan(text, file).run();
}

}  // namespace tessera::detail
