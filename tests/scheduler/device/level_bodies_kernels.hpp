#pragma once

#include "core/kernel.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::test {

/// A variable, and what is found of it on nodes.
struct LevelLabels {
  Label<double, Cell> u;
  Label<double, Node> found;
  TableLabel table{};
};

/// Moves u by its neighbours.
TaskBody moveByNeighbours(const LevelLabels& labels);
/// Writes what it finds of u on the nodes, and makes u smaller.
enum class On { Patch, AllPatches };
TaskBody findOnNodes(const LevelLabels& labels, On patches);
/// Changes u by what was found around it.
TaskBody useFound(const LevelLabels& labels);
/// Changes u by numbers of a table; with a table too short it looks beyond its end.
TaskBody lookUp(const LevelLabels& labels);
/// The same with the formula that the table was made of.
TaskBody computeInstead(const LevelLabels& labels);
/// A stage of a Runge-Kutta method for u' = u(x - 1) - 2 u(x) + u(x + 1): `to` is a part of Old u, and the
/// rest of a step from the value of `from`.
struct HeatStage {
  Label<double, Cell> u;
  Label<double, Cell> from;
  Generation generation = Generation::Old;
  Label<double, Cell> to;
  double old = 0.0;
};
TaskBody heatStage(const HeatStage& stage);
/// Number n of that table.
TESSERA_KERNEL inline double tableNumber(std::int64_t n) { return 1.0 / static_cast<double>(3 + n * n); }
inline constexpr std::int64_t kTableSize = 11;

}  // namespace tessera::test
