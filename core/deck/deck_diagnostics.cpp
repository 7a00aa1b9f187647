#include "core/deck/deck_diagnostics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/text/error.hpp"
#include "core/text/message_text.hpp"

namespace tessera {

std::string Finding::line() const {
  return detail::printable(where.text()) + (severity == Severity::Error ? ": error: " : ": warning: ") +
         detail::printable(text);
}

void DeckDiagnostics::error(const DeckLocation& where, std::string text) {
  all_.push_back({Finding::Severity::Error, where, std::move(text)});
  ++errors_;
}

void DeckDiagnostics::warning(const DeckLocation& where, std::string text) {
  all_.push_back({Finding::Severity::Warning, where, std::move(text)});
}

void DeckDiagnostics::append(const DeckDiagnostics& other) {
  all_.insert(all_.end(), other.all_.begin(), other.all_.end());
  errors_ += other.errors_;
}

std::string DeckDiagnostics::text() const {
  std::vector<Finding> sorted = all_;
  const auto place = [](const Finding& f) {
    return std::tuple(f.where.origin() != DeckLocation::Origin::File, f.where.line(), f.where.column());
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
  std::string out;
  for (const Finding& finding : sorted) {
    if (&finding == sorted.data() + kMostShown)
      return out + "\nonly the first " + std::to_string(kMostShown) + " are shown";
    out += (out.empty() ? "" : "\n") + finding.line();
  }
  return out;
}

void DeckDiagnostics::throwIfErrors() const {
  if (hasErrors()) throw DeckError(text());
}

}  // namespace tessera
