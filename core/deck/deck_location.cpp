#include "core/deck/deck_location.hpp"

#include <utility>

namespace tessera {

DeckLocation DeckLocation::inFile(std::shared_ptr<const std::string> file, std::int64_t line,
                                  std::int64_t column) {
  DeckLocation where;
  where.file_ = std::move(file);
  where.line_ = line;
  where.column_ = column;
  where.origin_ = Origin::File;
  return where;
}

DeckLocation DeckLocation::onCommandLine() {
  DeckLocation where;
  where.origin_ = Origin::CommandLine;
  return where;
}

std::string DeckLocation::text() const {
  return origin_ == Origin::File && line_ > 0 ? shortText() + ":" + std::to_string(column_) : shortText();
}

std::string DeckLocation::shortText() const {
  if (origin_ == Origin::Default) return "default";
  if (origin_ == Origin::CommandLine) return "command line";
  return line_ > 0 ? std::string(file()) + ":" + std::to_string(line_) : std::string(file());
}

}  // namespace tessera
