#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/deck/deck_location.hpp"

namespace tessera {

/// One thing that is wrong with a deck.
struct Finding {
  enum class Severity { Error, Warning };
  Severity severity = Severity::Error;
  DeckLocation where;
  std::string text;  ///< one sentence with the fix, without place and without a full stop

  /// "heat.toml:14:9: error: ..."; control characters are escaped.
  std::string line() const;
};

/// Everything that is wrong with a deck, collected so that a user sees all of it at once.
/// Not shared between threads.
class DeckDiagnostics {
 public:
  static constexpr std::size_t kMostShown = 200;

  void error(const DeckLocation& where, std::string text);
  void warning(const DeckLocation& where, std::string text);
  void append(const DeckDiagnostics& other);

  /// There are more findings than a person would read, so the collector may stop. A deck of a million wrong
  /// keys ends here.
  bool isFull() const { return all_.size() >= kMostShown; }

  bool empty() const { return all_.empty(); }
  bool hasErrors() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }
  const std::vector<Finding>& all() const { return all_; }

  /// One line each, in the order of the file, what comes from the command line last; at most kMostShown
  /// lines.
  std::string text() const;

  /// Throws DeckError with text() if there is at least one error; warnings alone pass.
  void throwIfErrors() const;

 private:
  std::vector<Finding> all_;
  std::size_t errors_ = 0;
};

}  // namespace tessera
