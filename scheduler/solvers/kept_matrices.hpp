#pragma once

#include <cstdint>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/solvers/exact_totals.hpp"
#include "scheduler/solvers/solver_system.hpp"

namespace tessera {

/// The matrices, one for each level, that a solver's set-up is of: it is kept while they have the same bits.
///
///   if (kept_.isDue(system, transport)) makeSetUpOf(kept_.level(0));
class KeptMatrices {
 public:
  /// `every`: solves until a set-up is made anew in any case; 0: never.
  KeptMatrices(const SolverSystem& system, std::int64_t every) : every_(every) {
    for (const auto& level : system.levels) matrices_.emplace_back(level->boxes, system.kind());
  }

  /// Of the next solve: whether its set-up has to be made, on all ranks. Then the matrices are those of the
  /// system. Collective.
  bool isDue(const SolverSystem& system, Transport& transport) {
    bool changes = solves_ == 0 || (every_ > 0 && solves_ >= every_);
    for (std::size_t n = 0; n < matrices_.size(); ++n)
      changes = changes || !sameMatrix(matrices_[n], system.levels[n]->system.matrix);
    const bool isDue = largestOfAll(changes ? 1.0 : 0.0, transport) > 0.0;
    solves_ = isDue ? 1 : solves_ + 1;
    if (!isDue) return false;
    for (std::size_t n = 0; n < matrices_.size(); ++n) matrices_[n].takeOver(system.levels[n]->system.matrix);
    return true;
  }
  GridMatrix& level(std::size_t n) { return matrices_[n]; }

 private:
  const std::int64_t every_;
  std::vector<GridMatrix> matrices_;
  std::int64_t solves_ = 0;  ///< with the set-up of now
};

}  // namespace tessera
