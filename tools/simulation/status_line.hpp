#pragma once

#include <string>

namespace tessera {

/// What a command of many files is at, in one line on standard error that the next one replaces: on a
/// terminal, nothing elsewhere. One thread.
class StatusLine {
 public:
  ~StatusLine() { clear(); }

  void show(const std::string& what);
  /// Makes room for other lines.
  void clear();

 private:
  bool isShown_ = false;
};

}  // namespace tessera
