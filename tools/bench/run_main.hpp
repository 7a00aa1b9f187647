#pragma once

#include <cstdio>

#include "core/text/error.hpp"

namespace tessera::bench {

/// The `main` of a benchmark: an error is one line, and its exit code.
inline int runMain(const char* name, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: error: %s\n", name, error.what());
    return error.exitCode();
  }
}

}  // namespace tessera::bench
