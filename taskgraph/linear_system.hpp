#pragma once

#include <optional>

#include "grid/generation.hpp"
#include "grid/label.hpp"

namespace tessera {

/// A coefficient on faces, which a task writes as New in a plan that runs before the solve. Along axes of one
/// cell no label is needed.
struct FaceCoefficients {
  Label<double, FaceX> x{};
  Label<double, FaceY> y{};
  Label<double, FaceZ> z{};
};

/// A linear system for a variable u at cell centres of all levels,
///
///   m u - w div(b grad u) = f,
///
/// with second-order differences over faces, for the end of a step; where w is a part of the step, for the
/// end of that part, and New goes on from Old through u. Conditions are those of then. A plain value.
///
///   program.solve("Heat::solve", {.solution = T, .rightHandSide = rhs, .mass = 1.0, .partOfDt = 0.5});
struct LinearSystem {
  Label<double, Cell> solution{};           ///< u: a solve leaves New
  Label<double, Cell> rightHandSide{};      ///< f, read as New
  double mass = 0.0;                        ///< m, not below 0
  double coefficient = 1.0;                 ///< b, not below 0, where it is the same everywhere
  std::optional<FaceCoefficients> faces{};  ///< b, not below 0, in place of `coefficient`
  std::optional<double> partOfDt{};         ///< w is this part of the step's length; not given: w = 1
  /// The mean of u over the domain, where the system leaves it open: m = 0, and no side gives a value.
  double mean = 0.0;
  /// What a solve begins with: Old of u, or New, which an earlier item of the program has left.
  Generation begin = Generation::Old;
};

}  // namespace tessera
