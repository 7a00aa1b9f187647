#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/graph_fuzz/shrink_case.hpp"

namespace tessera::fuzz {

/// The first failing case of a run, made small.
struct Failure {
  std::int64_t number = 0;
  Shrunk shrunk;
  std::string replay;  ///< the command that runs the small case again
};

/// What a run of many cases has seen.
struct FuzzReport {
  std::int64_t passed = 0;
  std::map<std::string, std::int64_t> refusals;  ///< cases, by the headline of their first fault
  std::int64_t refused = 0;
  std::int64_t conflicts = 0;
  std::int64_t carried = 0;
  std::int64_t next = 0;  ///< number of the first case that was not drawn
  std::optional<Failure> failure;
};

/// Draws cases from number `first` on until `cases` were accepted and passed, or one failed.
FuzzReport fuzz(std::uint64_t seed, std::int64_t first, std::int64_t cases, std::int64_t shrinkTries = 4000);

std::string replayLine(std::uint64_t seed, std::int64_t number, const std::vector<std::size_t>& path);

}  // namespace tessera::fuzz
