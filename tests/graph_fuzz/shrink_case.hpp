#pragma once

#include <functional>
#include <vector>

#include "tests/graph_fuzz/check_case.hpp"
#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// The case made smaller in each of the ways that there are: fewer shapes, ranks, steps, plans, tasks,
/// accesses, labels, levels, cells, narrower halos, plainer labels. The order is fixed, so that numbers can
/// be replayed.
std::vector<FuzzCase> smallerCases(const FuzzCase& c);

/// What shrinking arrived at.
struct Shrunk {
  FuzzCase least;
  Outcome outcome;
  std::vector<std::size_t> path;  ///< which of the smaller cases was taken, time after time
};

/// Takes the first smaller case that fails in the same way, until none does or `tries` are spent. `check` is
/// checkCase, or a test's own.
Shrunk shrink(const FuzzCase& c, const Outcome& outcome, std::int64_t tries,
              const std::function<Outcome(const FuzzCase&)>& check);

/// Follows a path again.
FuzzCase follow(const FuzzCase& c, const std::vector<std::size_t>& path);

}  // namespace tessera::fuzz
