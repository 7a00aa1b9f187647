#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace tessera {

/// The lines of a text file of numbers, one after the other. Empty lines and those that begin with '#' say
/// nothing and are left out.
///
///   TableLines lines(file, "a line \"x value\" for each place");
///   for (std::string text; lines.next(text);) { ... lines.fault("a number is not finite", "write one"); }
class TableLines {
 public:
  /// Opens the file. InputError where that is not possible; its fix names a text file with `content`.
  TableLines(const std::filesystem::path& file, const char* content);

  /// Reads the next line into `text`; false at the end of the file.
  bool next(std::string& text);
  /// Of the last line that was read, from 1 on.
  std::int64_t number() const { return number_; }
  /// InputError that names file and line.
  [[noreturn]] void fault(const char* what, const char* fix) const;

 private:
  std::filesystem::path file_;
  std::ifstream in_;
  std::int64_t number_ = 0;
};

}  // namespace tessera
