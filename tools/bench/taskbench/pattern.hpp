#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::bench {

/// The dependence patterns of Task Bench (Slaughter et al., SC20), written anew from their definitions.
enum class PatternKind {
  Trivial,            ///< no inputs
  NoComm,             ///< the same column
  Stencil1d,          ///< the column and its neighbours
  Stencil1dPeriodic,  ///< the same, round a ring
  Dom,                ///< a wavefront through a square: rows grow from one task to `width` and shrink again
  Tree,               ///< rows double until they are full; column i reads i / 2
  Fft,                ///< column i and those `2^d` to its left and right; d runs through the stages
  Nearest,            ///< `radix` columns around it
  Spread,             ///< `radix` columns at equal distances; all but the first move on from row to row
  RandomNearest,  ///< of `radix` columns around it its own, and each other one with probability `fraction`
  AllToAll,       ///< every column
};

/// A grid of tasks: `steps` rows of at most `width` columns. A task reads tasks of the row before only.
struct Pattern {
  PatternKind kind = PatternKind::Stencil1d;
  int width = 64;
  int steps = 1000;
  int radix = 3;           ///< of `Nearest`, `Spread` and `RandomNearest`
  int period = 3;          ///< rows until `Spread` and `RandomNearest` repeat themselves
  double fraction = 0.25;  ///< of `RandomNearest`
};

/// The columns [first, end) that a row has.
struct Columns {
  int first = 0;
  int end = 0;
  bool has(int column) const { return column >= first && column < end; }
};

/// In the order of `PatternKind`: "trivial", "no_comm", ...
const std::vector<std::string>& patternNames();
std::string_view nameOf(PatternKind kind);
/// Throws UsageError for a name that is none.
PatternKind patternOf(std::string_view name);

/// Throws UsageError with what to change where the pattern makes no sense.
void expectValid(const Pattern& pattern);

// Of a valid pattern, for 0 <= step < steps and a column that the row has. Pure, any thread.

/// Of a row outside of the grid: none.
Columns columnsOf(const Pattern& pattern, int step);
/// The columns of row step - 1 that the task reads, ascending.
std::vector<int> inputsOf(const Pattern& pattern, int step, int column);
/// The columns of row step + 1 that read the task, ascending. By formulas of its own, not by search.
std::vector<int> readersOf(const Pattern& pattern, int step, int column);

}  // namespace tessera::bench
