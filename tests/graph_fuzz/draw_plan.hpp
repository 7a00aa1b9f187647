#pragma once

#include <random>

#include "tests/graph_fuzz/fuzz_case.hpp"

namespace tessera::fuzz {

/// Numbers from a seed, the same with every standard library (its distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

/// Writes every carried label on all levels, and may go on from there.
PlanSpec drawFirstPlan(const FuzzCase& c, Random& random);
PlanSpec drawPlan(const FuzzCase& c, Random& random);
/// Begins as `other` does, with the same tasks, and goes on in its own way.
PlanSpec drawVariant(const FuzzCase& c, const PlanSpec& other, Random& random);

}  // namespace tessera::fuzz
