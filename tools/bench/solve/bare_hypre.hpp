#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/geometry/box.hpp"

namespace tessera::bench {

/// What a program takes that calls hypre and nothing else: conjugate gradients with PFMG as a preconditioner,
/// on the ranks of MPI, in boxes whose matrix and right-hand side are arrays already. With the settings of
/// `HypreStruct`. Collective.
class BareHypre {
 public:
  /// Numbers of a box in the order of hypre, x fastest: of the matrix seven a cell, the diagonal and what the
  /// neighbours along -x, x, -y, y, -z and z have.
  struct Part {
    Box cells;
    std::vector<double> matrix;
    std::vector<double> rightHandSide;
    std::vector<double> solution;  ///< before: where to begin
  };
  explicit BareHypre(std::vector<Part> parts);
  ~BareHypre();
  BareHypre(const BareHypre&) = delete;
  BareHypre& operator=(const BareHypre&) = delete;

  /// Whether this build has hypre.
  static bool isThere();
  /// Matrix and set-up.
  void setUp();
  /// To the residual `tolerance`, as a part of the right-hand side's norm. The number of iterations.
  std::int64_t solve(double tolerance, std::int64_t most);

 private:
  struct Objects;
  std::vector<Part> parts_;
  std::unique_ptr<Objects> objects_;
};

}  // namespace tessera::bench
