#pragma once

#include <string>
#include <vector>

#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// What became of a case.
struct Outcome {
  enum class Kind {
    Passed,
    Refused,  ///< by the mesh or the compiler, with a fault that a random plan may have
    Failed,
  };
  Kind kind = Kind::Passed;
  std::vector<std::string> faults;  ///< of Refused: the headlines
  std::string text;                 ///< of Failed: what is wrong, first a short name of the failure up to ':'
  std::int64_t conflicts = 0;       ///< pairs that the race check has proved ordered
  std::int64_t carried = 0;         ///< values that an item of a cut plan has left for a later one
};

/// Compiles a case, looks for races, runs it in all its shapes and compares every value of every step with
/// the plain model.
Outcome checkCase(const FuzzCase& c);

}  // namespace tessera::fuzz
