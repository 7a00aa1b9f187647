#pragma once

#include <cstdio>
#include <string>

namespace tessera::bench {

/// The figures of a benchmark for programs: with --lines standard output has one line each,
/// `name value unit target`, and the table for people goes to standard error.
///
/// Names and units are words without spaces. A target is ">=85", "<=8", "<1" or "-" (none), for the value in
/// the unit of the line. `verify` of a bundle reads them.
class FigureLines {
 public:
  explicit FigureLines(bool on) : on_(on) {}

  /// Where the table for people goes.
  std::FILE* table() const { return on_ ? stderr : stdout; }

  void add(const std::string& name, double value, const char* unit, const char* target = "-") const {
    if (!on_) return;
    std::printf("%s %.4g %s %s\n", name.c_str(), value, unit, target);
    std::fflush(stdout);
  }

 private:
  bool on_;
};

}  // namespace tessera::bench
