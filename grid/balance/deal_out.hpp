#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/hierarchy.hpp"
#include "grid/rank_map.hpp"

namespace tessera {

/// A way through all places of a domain that seldom leaves a neighbourhood.
enum class Curve {
  Morton,   ///< places in the order of their interleaved digits; jumps now and then
  Hilbert,  ///< from each place to one beside it
};

/// How patches are dealt out to ranks.
struct DealRules {
  Curve curve = Curve::Morton;
  /// One cut through the patches of all levels, so that most patches have the coarser cells under them on
  /// their own rank; else each level is cut by itself, so that each rank has its part of each.
  bool together = false;
  friend bool operator==(const DealRules&, const DealRules&) = default;
};

/// Position on the curve of the centre of some cells of the domain, along its resolved axes. Cells of finer
/// levels, within their own domain, have positions on the same curve.
std::uint64_t positionOnCurve(Curve curve, const Box& cells, const Box& domain, const Geometry& geometry);

/// Cuts what has these positions and costs into `parts` of nearly equal cost: the part of each. A part has
/// what lies next to one another on the curve, and costs at most the mean and one piece more. Where nothing
/// costs anything all pieces count alike.
std::vector<int> cutByCost(std::span<const std::uint64_t> positions, std::span<const double> costs,
                           int parts);

/// By patch id: its cells times the steps that its level takes in one of level 0; empty: one each.
std::vector<double> costsByCells(const Hierarchy& hierarchy, std::span<const double> stepsOfLevel);

/// Cuts the patches along the curve into parts of nearly equal cost; `costs` is by patch id. A pure function.
RankMap dealOut(const Hierarchy& hierarchy, std::span<const double> costs, int ranks, const DealRules& rules);

/// The costs of the patches of another mesh: cells that both have cost what they did, others as much as a
/// cell of their level on average, or, on a level that had none, as the dearest level's.
std::vector<double> costsOn(const Hierarchy& after, const Hierarchy& before, std::span<const double> costs);

/// Largest share of a rank over the mean one, of the patches of one level, or of all (`level` -1); 1 where
/// there are none.
double imbalanceOf(const Hierarchy& hierarchy, const RankMap& owners, std::span<const double> costs,
                   int ranks, LevelId level = -1);

/// The cost of a step as the busiest ranks make it: the largest share of a rank, or, where the levels take
/// turns, the sum of the largest shares of all levels.
double costOfStep(const Hierarchy& hierarchy, const RankMap& owners, std::span<const double> costs, int ranks,
                  bool levelsTakeTurns);

}  // namespace tessera
