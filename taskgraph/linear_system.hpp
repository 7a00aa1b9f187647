#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "grid/generation.hpp"
#include "grid/label.hpp"

namespace tessera {

/// Numbers on faces, which a task writes as New in a plan that runs before the solve. Along axes of one cell
/// no label is needed.
struct FaceCoefficients {
  Label<double, FaceX> x{};
  Label<double, FaceY> y{};
  Label<double, FaceZ> z{};
};

/// Cells that are no part of a system: those in which a label, which a task writes as New, is 0.
struct SystemHoles {
  Label<double, Cell> open{};  ///< 1 in cells of the system, 0 in holes
  /// What faces between a cell and a hole do. Closed: nothing passes. Held: they have the value that u begins
  /// with in the hole. There it keeps it in any case.
  enum class Faces { Closed, Held };
  Faces faces = Faces::Closed;
};

/// Another variable with the same matrix.
struct AlsoSolved {
  Label<double, Cell> solution{};
  Label<double, Cell> rightHandSide{};
  double mean = 0.0;  ///< as in LinearSystem
};

/// A linear system for a variable u at cell centres of all levels,
///
///   m u + w (v . grad u - div(b grad u)) = f,
///
/// with second-order differences over faces for b and upwind ones for v, for the end of a step; where w is a
/// part of the step, for the end of that part, and New goes on from Old through u. Conditions are those of
/// then. A plain value.
///
///   program.solve("Heat::solve", {.solution = T, .rightHandSide = rhs, .mass = 1.0, .partOfDt = 0.5});
struct LinearSystem {
  Label<double, Cell> solution{};           ///< u: a solve leaves New
  Label<double, Cell> rightHandSide{};      ///< f, read as New
  double mass = 0.0;                        ///< m, not below 0
  double coefficient = 1.0;                 ///< b, not below 0, where it is the same everywhere
  std::optional<FaceCoefficients> faces{};  ///< b, not below 0, in place of `coefficient`
  std::optional<FaceCoefficients> flow{};   ///< v, on one level; not given: 0
  std::optional<SystemHoles> holes{};       ///< on one level
  std::optional<double> partOfDt{};         ///< w is this part of the step's length; not given: w = 1
  /// The mean of u over all unknowns by volume, holes and rows without entries left out, where the system
  /// leaves it open: m = 0, and no side gives a value.
  double mean = 0.0;
  /// Where the system leaves it open: that the author has made f add up to 0. What it adds up to is rounding
  /// then, though all of f may be no more than that; else it is an error beyond `solver.imbalance`.
  bool addsUpToNothing = false;
  /// What a solve begins with: Old of u, or New, which an earlier item of the program has left.
  Generation begin = Generation::Old;
  /// Variables that are solved for as well, one after the other, with their own conditions: of one kind with
  /// those of u everywhere, or the matrix is set up for each.
  std::vector<AlsoSolved> others{};

  std::size_t unknowns() const { return 1 + others.size(); }
  /// The system of one of them, `solution` being number 0.
  LinearSystem of(std::size_t n) const {
    LinearSystem one = *this;
    one.others.clear();
    if (n == 0) return one;
    one.solution = others[n - 1].solution;
    one.rightHandSide = others[n - 1].rightHandSide;
    one.mean = others[n - 1].mean;
    return one;
  }
};

}  // namespace tessera
