#pragma once

#include <memory>
#include <vector>

#include "core/transport/transport.hpp"
#include "grid/level.hpp"
#include "scheduler/solvers/composite/coarse_fine.hpp"
#include "scheduler/solvers/composite/patch_boxes.hpp"
#include "scheduler/solvers/grid_boxes.hpp"
#include "scheduler/solvers/grid_system.hpp"
#include "scheduler/solvers/loops/check_loops.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"

namespace tessera {

/// What a linear system is on one level of the mesh, on this rank.
struct SystemLevel {
  const Level& level;
  GridBoxes boxes;
  GridSystem system;
  /// The volume of each cell in cells of level 0, and 0 of cells that are no unknowns: those under finer
  /// ones, and holes. Empty where the mesh has one level without holes: all cells count as 1.
  CellNumbers weights{};
  Unknowns unknowns(std::size_t box) const;

  /// Of a refined level whose patches are no boxes for a solver.
  std::unique_ptr<PatchBoxes> patches{};

  SystemLevel(const Level& of, const RankMap& owners, Transport& transport,
              MatrixKind kind = MatrixKind::Symmetric, SolverDevice* device = nullptr);
  /// In boxes that the patches of this rank are whole in.
  GridSystem& onPatches() { return patches ? patches->system() : system; }
};

/// A linear system on all levels of a mesh, coarsest first. A cell under finer ones belongs to the finer
/// level. Where levels meet the rows are those of each level for itself: who solves knows what to do.
struct SolverSystem {
  std::vector<std::unique_ptr<SystemLevel>> levels;
  std::vector<std::unique_ptr<CoarseFine>> joints{};  ///< of several levels
  bool isSingular = false;  ///< constants are mapped to 0; the right-hand side adds up to 0 then
  double scale = 0.0;       ///< 2-norm of the right-hand side, which tolerances refer to

  GridSystem& coarsest() { return levels.front()->system; }
  /// Between level n - 1 and level n.
  CoarseFine& below(std::size_t n) { return *joints[n - 1]; }
  MatrixKind kind() const { return levels.front()->system.matrix.kind(); }
};

/// Numbers on all levels, coarsest first.
using LevelNumbers = std::vector<CellNumbers>;

/// Sums over all cells that are unknowns, each times its weight: the same bits for any boxes and ranks. All
/// ranks call these functions at once.
double dotOf(const SolverSystem& system, const LevelNumbers& a, const LevelNumbers& b, Transport& transport);
/// Of these numbers of each level.
double totalOf(const SolverSystem& system, CellNumbers GridSystem::*of, Summand what, Transport& transport);
/// The volume of all unknowns, in cells of level 0.
double volumeOf(const SolverSystem& system, Transport& transport);

/// Makes the joints of a system whose levels are all there, and its weights, of cells without holes.
/// Collective.
void joinLevels(SolverSystem& system, Transport& transport);
/// Makes weights of an assembled system that count no holes: cells whose rows have no entries, in which
/// nothing arises. Collective.
void leaveOutHoles(SolverSystem& system);
/// number = factor * number + a in all unknowns; numbers in other cells stay.
void changeUnknowns(SolverSystem& system, CellNumbers GridSystem::*of, double factor, double a);

}  // namespace tessera
