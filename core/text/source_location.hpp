#pragma once

namespace tessera {

/// A line of source code, for messages that send a physics author to a declaration. As a default argument it
/// is the line of the caller:
///
///   TaskBuilder task(std::string_view name, SourceLocation where = SourceLocation::current());
///
/// The standard's std::source_location is the same thing, but clang 14, whose sanitizers we use, has none.
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace tessera
