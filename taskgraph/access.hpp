#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/geometry/box.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"
#include "grid/patch.hpp"
#include "grid/reach.hpp"

namespace tessera {

/// A clause of `reads`: how many cells outside its patch the task reads.
struct HaloClause {
  Halo layers;
  bool facesOnly = false;
};
/// The same number on every side.
constexpr HaloClause halo(std::int64_t n) { return {uniformHalo(n)}; }
/// `lo` towards lower indices and `hi` towards higher ones, on every axis.
constexpr HaloClause halo(std::int64_t lo, std::int64_t hi) { return {{{lo, lo, lo}, {hi, hi, hi}}}; }
/// A different number on each side and axis.
constexpr HaloClause halo(Index lo, Index hi) { return {{lo, hi}}; }
/// As `halo(n)`, but without edges and corners: of the cells outside of its patch the task reads those that
/// lie outside along one axis. Enough for a stencil that is a star, and cheaper where halos are gathered.
constexpr HaloClause faceHalo(std::int64_t n) { return {uniformHalo(n), true}; }

/// A clause of `reads`: the task reads the label on every patch of a level. One copy a rank serves all its
/// tasks.
struct WholeLevelClause {
  LevelId level = -1;  ///< -1: the level of the task's own patch
};
constexpr WholeLevelClause wholeLevel() { return {}; }
constexpr WholeLevelClause wholeLevel(LevelId level) { return {level}; }

/// A clause of `reads`: the cells of the next coarser level under the patch, and `layers` around them.
struct FromCoarserClause {
  std::int64_t layers = 0;
};
constexpr FromCoarserClause fromCoarser(std::int64_t layers = 0) { return {layers}; }

/// A clause of `reads`: the cells of the next finer level over the patch, where there are any.
struct FromFinerClause {};
constexpr FromFinerClause fromFiner() { return {}; }

/// A clause of `reads` and `modifies`: the value that the named task leaves, where several tasks of the step
/// write the label. Without it a read sees the final value of the step.
struct FromClause {
  std::string_view task;
};
constexpr FromClause from(std::string_view task) { return {task}; }

/// A clause of `writes` and `modifies`: the loop of that name (what `forEach` is called with) computes the
/// final values of the label, each in the iteration of its own index, of all components if it has some. NaN
/// and infinity are then looked for by that loop, while the values are in the nearest cache; without the
/// clause the values are read again for that. Checked mode names a clause whose loop the body does not have.
struct InLoopClause {
  std::string_view loop;
};
constexpr InLoopClause inLoop(std::string_view loop) { return {loop}; }

/// On which levels a task runs. The clause `.on(...)` takes one; without it a task runs on all.
struct LevelSelection {
  enum class Kind : std::uint8_t { All, One, Finest, AllButFinest, AllButCoarsest, Some };
  Kind kind = Kind::All;
  LevelId level = 0;
  std::uint64_t some = 0;  ///< of Some: bit l stands for level l

  friend constexpr bool operator==(const LevelSelection&, const LevelSelection&) = default;

  constexpr bool contains(LevelId l, LevelId finest) const {
    switch (kind) {
      case Kind::All:
        return true;
      case Kind::One:
        return l == level;
      case Kind::Finest:
        return l == finest;
      case Kind::AllButFinest:
        return l != finest;
      case Kind::AllButCoarsest:
        return l != 0;
      case Kind::Some:
        return l < 64 && ((some >> l) & 1U) != 0;
    }
    return false;
  }
};
constexpr LevelSelection onlyLevel(LevelId level) { return {LevelSelection::Kind::One, level}; }
constexpr LevelSelection finestLevel() { return {LevelSelection::Kind::Finest}; }
constexpr LevelSelection allButFinest() { return {LevelSelection::Kind::AllButFinest}; }
constexpr LevelSelection allButCoarsest() { return {LevelSelection::Kind::AllButCoarsest}; }
/// Bit l of `levels` stands for level l.
constexpr LevelSelection someLevels(std::uint64_t levels) { return {LevelSelection::Kind::Some, 0, levels}; }

/// A declared read.
struct ReadDeclaration {
  Generation generation = Generation::Old;
  LabelId label = -1;
  Reach reach = Reach::Patch;
  Halo halo;           ///< around the patch, or around its coarse cells
  LevelId level = -1;  ///< of WholeLevel; -1 is the task's own
  std::string from;
  bool facesOnly = false;  ///< of `halo`: not what lies outside along more than one axis
};

/// The read as its clauses say it: "Old temperature halo(1)", "New flux fromFiner()".
std::string asText(const ReadDeclaration& read, const LabelTable& labels);

/// A declared write: of a label that nobody else writes, or (`modifies`) of the value another task left.
struct WriteDeclaration {
  LabelId label = -1;
  bool modifies = false;
  std::string from;
};

/// A field that a task has for itself while it runs on a patch.
struct ScratchDeclaration {
  LabelId label = -1;
  Halo grow;  ///< around the cells of the patch
};

/// How the contributions of all patches become one number.
enum class ReductionKind : std::uint8_t { Min, Max, Sum };

struct ContributionDeclaration {
  LabelId reduction = -1;
  ReductionKind kind = ReductionKind::Min;
};

}  // namespace tessera
