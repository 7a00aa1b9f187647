#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/box.hpp"
#include "grid/generation.hpp"
#include "grid/label.hpp"

namespace tessera {

/// A clause of `reads`: how many cells outside its patch the task reads.
struct HaloClause {
  Halo layers;
};
/// The same number on every side.
constexpr HaloClause halo(std::int64_t n) { return {uniformHalo(n)}; }
/// `lo` towards lower indices and `hi` towards higher ones, on every axis.
constexpr HaloClause halo(std::int64_t lo, std::int64_t hi) { return {{{lo, lo, lo}, {hi, hi, hi}}}; }
/// A different number on each side and axis.
constexpr HaloClause halo(Index lo, Index hi) { return {{lo, hi}}; }

/// A clause of `reads` and `modifies`: the value that the named task leaves, where several tasks of the step
/// write the label. Without it a read sees the final value of the step.
struct FromClause {
  std::string_view task;
};
constexpr FromClause from(std::string_view task) { return {task}; }

/// A declared read.
struct ReadDeclaration {
  Generation generation = Generation::Old;
  LabelId label = -1;
  Halo halo;
  std::string from;
};

/// A declared write: of a label that nobody else writes, or (`modifies`) of the value another task left.
struct WriteDeclaration {
  LabelId label = -1;
  bool modifies = false;
  std::string from;
};

/// How the contributions of all patches become one number.
enum class ReductionKind : std::uint8_t { Min, Max, Sum };

struct ContributionDeclaration {
  LabelId reduction = -1;
  ReductionKind kind = ReductionKind::Min;
};

}  // namespace tessera
