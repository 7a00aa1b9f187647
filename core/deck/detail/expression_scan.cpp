#include "core/deck/detail/expression_scan.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/text/message_text.hpp"
#include "core/text/nearest_name.hpp"

namespace tessera::detail {

namespace {

constexpr std::size_t kLongestName = 100;

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Scan {
 public:
  Scan(std::string_view text, const Constants& constants, const Variables& variables)
      : text_(text), constants_(constants), variables_(variables) {}

  ExpressionUse run() {
    if (text_.size() > Expression::kMaxLength) {
      throw ExpressionError("the expression has " + std::to_string(text_.size()) + " characters; at most " +
                                std::to_string(Expression::kMaxLength) + " are allowed",
                            0);
    }
    while (at_ < text_.size()) token();
    if (isEmpty_) throw ExpressionError("the expression is empty", 0);
    if (!open_.empty()) fail(open_.back().at, "this parenthesis is not closed");
    return use_;
  }

 private:
  struct Parenthesis {
    std::size_t at = 0;
    const FunctionName* function = nullptr;
    int arguments = 1;
    bool isEmpty = true;
  };

  void token() {
    const char c = text_[at_];
    if (isSpace(c)) {
      ++at_;
      return;
    }
    isEmpty_ = false;
    if (c != ')' && !open_.empty()) open_.back().isEmpty = false;
    if (isLetter(c)) {
      name();
    } else if (isDigit(c) || c == '.') {
      number();
    } else if (c == '(' || c == ')' || c == ',') {
      bracket(c);
    } else {
      operation(c);
    }
  }

  void name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (isLetter(text_[at_]) || isDigit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    std::size_t next = at_;
    while (next < text_.size() && isSpace(text_[next])) ++next;
    const bool isCall = next < text_.size() && text_[next] == '(';
    if (isCall) {
      call(begin, word, next);
    } else {
      value(begin, word);
    }
  }

  void call(std::size_t begin, std::string_view word, std::size_t parenthesis) {
    const auto& known = expressionFunctions();
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.name == word; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const FunctionName& function : known) names.emplace_back(function.name);
      const std::string hint = didYouMean(word, names);
      const bool isValue = std::find(variables_.begin(), variables_.end(), word) != variables_.end();
      fail(begin,
           isValue
               ? std::string(word) + " is not a function; write " + std::string(word) + "*(...) for a product"
               : "unknown function " + quotedKey(word) +
                     (hint.empty() ? "; known functions: " + listText(names, names.size()) : hint));
    }
    at_ = parenthesis + 1;
    open(parenthesis, &*found);
  }

  void value(std::size_t begin, std::string_view word) {
    if (word == "pi") return;
    if (word == "x" || word == "y" || word == "z" || word == "t") return variable(begin, word);
    const auto constant =
        std::find_if(constants_.begin(), constants_.end(), [&](const Constant& c) { return c.name == word; });
    if (constant == constants_.end()) unknownName(begin, word);
    const bool isNew = std::none_of(use_.constants.begin(), use_.constants.end(),
                                    [&](const Constant& c) { return c.name == word; });
    if (isNew) use_.constants.push_back(*constant);
  }

  void variable(std::size_t begin, std::string_view word) {
    if (std::find(variables_.begin(), variables_.end(), word) == variables_.end()) {
      fail(begin, std::string(word) + " cannot be used here" +
                      (variables_.empty() ? "; only numbers and constants can"
                                          : "; only " + listText(variables_) + " can"));
    }
    (word == "x" ? use_.x : word == "y" ? use_.y : word == "z" ? use_.z : use_.t) = true;
  }

  [[noreturn]] void unknownName(std::size_t begin, std::string_view word) const {
    const auto& functions = expressionFunctions();
    const bool isFunction =
        std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.name == word; });
    if (isFunction) fail(begin, "the function " + quotedKey(word) + " needs its argument in parentheses");
    std::vector<std::string> names = variables_;
    names.emplace_back("pi");
    for (const Constant& constant : constants_) names.push_back(constant.name);
    const std::string hint = didYouMean(word, names);
    fail(begin, "unknown name " + quotedKey(word) + (hint.empty() ? "" : hint) + (hint.empty() ? ";" : "") +
                    " known names: " + listText(names));
  }

  void number() {
    const char* const first = text_.data() + at_;
    double ignored = 0.0;
    const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), ignored);
    const std::string_view word(first, static_cast<std::size_t>(end - first));
    if (status == std::errc::result_out_of_range) {
      fail(at_, "the number " + std::string(word) + " does not fit a double");
    }
    if (status != std::errc()) fail(at_, "this is not a number");
    const std::size_t begin = at_;
    at_ += word.size();
    if (at_ < text_.size() && (isLetter(text_[at_]) || isDigit(text_[at_]) || text_[at_] == '.')) {
      fail(begin, "the number " + std::string(word) + " runs into " + quotedText(text_.substr(at_, 1)) +
                      "; a product needs a '*'");
    }
  }

  void open(std::size_t at, const FunctionName* function) {
    if (open_.size() >= static_cast<std::size_t>(Expression::kMaxNesting)) {
      fail(at, "parentheses are nested more than " + std::to_string(Expression::kMaxNesting) + " deep");
    }
    open_.push_back({at, function, 1, true});
  }

  void bracket(char c) {
    if (c == '(') {
      open(at_, nullptr);
    } else if (open_.empty()) {
      fail(at_, c == ')' ? "this parenthesis was never opened" : "a comma may stand only between arguments");
    } else if (c == ',') {
      if (open_.back().function == nullptr) fail(at_, "a comma may stand only between arguments");
      ++open_.back().arguments;
    } else {
      close();
    }
    ++at_;
  }

  void close() {
    const Parenthesis p = open_.back();
    open_.pop_back();
    if (p.isEmpty) fail(p.at, "there is nothing between these parentheses");
    if (p.function == nullptr || p.function->arguments == 0 || p.function->arguments == p.arguments) return;
    const bool isOne = p.function->arguments == 1;
    fail(p.at, quotedKey(p.function->name) + " takes " + std::to_string(p.function->arguments) +
                   (isOne ? " argument" : " arguments") + ", not " + std::to_string(p.arguments));
  }

  void operation(char c) {
    const std::string_view two = text_.substr(at_, 2);
    const bool isDouble =
        two == "==" || two == "!=" || two == "<=" || two == ">=" || two == "&&" || two == "||";
    constexpr std::string_view kSingle = "+-*/^<>?:";
    if (isDouble) {
      at_ += 2;
    } else if (kSingle.find(c) != std::string_view::npos) {
      if (two == "**") fail(at_, "'**' is not an operator; a power is written x^2");
      ++at_;
    } else {
      refuse(c);
    }
  }

  [[noreturn]] void refuse(char c) const {
    if (c == '=') fail(at_, "'=' would assign; an expression has no assignments, compare with '=='");
    if (c == '!') fail(at_, "'!' is not an operator; write (a == 0) for 'not a'");
    if (c == '&' || c == '|') fail(at_, std::string("'") + c + "' is not an operator; write '" + c + c + "'");
    if (c == '%') fail(at_, "'%' is not an operator; write mod(a, b)");
    std::size_t bytes = 1;
    while (at_ + bytes < text_.size() && (static_cast<unsigned char>(text_[at_ + bytes]) & 0xC0U) == 0x80U)
      ++bytes;
    fail(at_, "the character " + quotedText(text_.substr(at_, bytes)) + " has no meaning in an expression");
  }

  /// Characters, not bytes, are counted for people.
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    const auto isFirstByte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    const auto before =
        std::count_if(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), isFirstByte);
    const std::size_t position = static_cast<std::size_t>(before) + 1;
    throw ExpressionError("character " + std::to_string(position) + " of " + quotedText(text_) + ": " + what,
                          position);
  }

  std::string_view text_;
  const Constants& constants_;
  const Variables& variables_;
  std::size_t at_ = 0;
  bool isEmpty_ = true;
  std::vector<Parenthesis> open_;
  ExpressionUse use_;
};

}  // namespace

const std::vector<FunctionName>& expressionFunctions() {
  static const std::vector<FunctionName> kFunctions = {
      {"sin", 1},   {"cos", 1},  {"tan", 1},   {"asin", 1}, {"acos", 1}, {"atan", 1},
      {"atan2", 2}, {"sinh", 1}, {"cosh", 1},  {"tanh", 1}, {"exp", 1},  {"log", 1},
      {"log10", 1}, {"sqrt", 1}, {"abs", 1},   {"sign", 1}, {"min", 0},  {"max", 0},
      {"floor", 1}, {"ceil", 1}, {"round", 1}, {"pow", 2},  {"mod", 2},  {"if", 3},
  };
  return kFunctions;
}

bool isReservedName(std::string_view name) {
  if (name == "x" || name == "y" || name == "z" || name == "t" || name == "pi") return true;
  const auto& functions = expressionFunctions();
  return std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
}

bool isIdentifier(std::string_view name) {
  const auto isInner = [](char c) { return isLetter(c) || isDigit(c); };
  return !name.empty() && name.size() < kLongestName && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), isInner);
}

ExpressionUse scanExpression(std::string_view text, const Constants& constants, const Variables& variables) {
  return Scan(text, constants, variables).run();
}

}  // namespace tessera::detail
