#include "tools/simulation/status_line.hpp"

#include <iostream>
#include <unistd.h>

namespace tessera {

void StatusLine::show(const std::string& what) {
  if (::isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\r\033[K" << what << std::flush;
  isShown_ = true;
}

void StatusLine::clear() {
  if (isShown_) std::cerr << "\r\033[K" << std::flush;
  isShown_ = false;
}

}  // namespace tessera
