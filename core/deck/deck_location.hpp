#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tessera {

/// Where a value came from: a place in a deck, the command line, or a declared default.
/// Cheap to copy; the name of the file is shared. Immutable, so any thread may read it.
class DeckLocation {
 public:
  enum class Origin { Default, File, CommandLine };

  /// The origin of a value that the deck leaves out: the declared default.
  DeckLocation() = default;

  /// A place in a deck; line and column count from 1, columns in characters (not bytes).
  static DeckLocation inFile(std::shared_ptr<const std::string> file, std::int64_t line, std::int64_t column);

  /// `--set key=value`; all such places are the same one.
  static DeckLocation onCommandLine();

  Origin origin() const { return origin_; }
  std::int64_t line() const { return line_; }
  std::int64_t column() const { return column_; }

  /// Name of the file as the user gave it; empty unless the origin is a file.
  std::string_view file() const { return file_ ? std::string_view(*file_) : std::string_view(); }

  /// "heat.toml:14:9", "command line" or "default": the head of every message.
  std::string text() const;

  /// "heat.toml:14", "command line" or "default": the form of `resolved.toml`.
  std::string shortText() const;

 private:
  std::shared_ptr<const std::string> file_;
  std::int64_t line_ = 0;
  std::int64_t column_ = 0;
  Origin origin_ = Origin::Default;
};

}  // namespace tessera
