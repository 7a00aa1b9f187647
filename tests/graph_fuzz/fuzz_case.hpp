#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "grid/boundary_condition.hpp"
#include "grid/geometry.hpp"
#include "grid/hierarchy.hpp"
#include "grid/refined_levels.hpp"
#include "taskgraph/access.hpp"

namespace tessera::fuzz {

/// What an element of a variable is.
enum class NumberType : std::uint8_t {
  Double,
  Float,
  Int32,
  Int64,
  DoubleVector,
  FloatVector,
  DoubleComponents,
  FloatComponents
};
inline constexpr int kNumberTypes = 8;

/// Components of a label of that type; 0: it has none.
constexpr int componentsOf(NumberType type) {
  return type == NumberType::DoubleComponents ? 3 : type == NumberType::FloatComponents ? 2 : 0;
}

/// The conditions of one component, on whole sides and on a part of each of them.
struct ComponentSpec {
  std::array<BoundaryKind, kSides> conditions{};
  bool odd = false;  ///< sides that reflect change the sign
  int part = 0;      ///< in hundredths: the part where x + 2 y + 3 z is smaller; 0: there is none
  BoundaryKind ofPart = BoundaryKind::Outflow;
  friend bool operator==(const ComponentSpec&, const ComponentSpec&) = default;
};

/// What a variable is. Numbers are whole and small, so that every operation on them is exact.
struct LabelSpec {
  Centering centering = Centering::Cell;
  NumberType type = NumberType::Double;
  bool kept = true;     ///< looked at after each plan, so nobody may share its memory
  bool carried = true;  ///< the first plan writes it on all levels, so others may read it as Old
  std::array<BoundaryKind, kSides> conditions{};
  int dirichlet = 0;  ///< value of its Dirichlet sides and of those that are given; derivatives are 0
  std::vector<ComponentSpec> components;  ///< of a type that has some, in place of `conditions`
};

struct ReadSpec {
  Generation generation = Generation::Old;
  int label = 0;
  Reach reach = Reach::Patch;
  Halo halo;
  LevelId level = -1;  ///< of WholeLevel; -1 is the task's own
  int from = -1;       ///< id of a task, or -1
  friend bool operator==(const ReadSpec&, const ReadSpec&) = default;
};

struct WriteSpec {
  int label = 0;
  bool modifies = false;
  int from = -1;
  friend bool operator==(const WriteSpec&, const WriteSpec&) = default;
};

/// One task; the same task in several plans is declared once. What it computes is told by `kernel.hpp` from
/// the declarations and `id`.
struct TaskSpec {
  int id = 0;  ///< its name is "Fuzz::t<id>"
  std::vector<ReadSpec> reads;
  std::vector<WriteSpec> writes;
  std::vector<int> contributions;  ///< reductions
  LevelSelection levels;
  bool oncePerRank = false;
  bool oncePerLevel = false;  ///< changes no value
  int place =
      0;  ///< tasks are declared in ascending order of it; they are listed in the order of their making
  friend bool operator==(const TaskSpec&, const TaskSpec&) = default;
};

using PlanSpec = std::vector<TaskSpec>;

/// How the plans are run; the answer may not depend on it.
struct ShapeSpec {
  int ranks = 1;
  int threads = 0;  ///< 0: the in-order executor
  bool checked = false;
  bool delays = false;
  int regrids = 0;         ///< meshes that the graphs were compiled for before, each recompiled to the next
  bool reuse = true;       ///< values that are never in use at the same time may share memory
  bool scratch = false;    ///< halos are gathered into scratch windows where that is possible
  int cuts = 0;            ///< lines at which each step plan is cut into items of a step program, at most
  std::uint64_t seed = 1;  ///< of owners, delays and cuts

  std::int64_t scratchAbove() const { return scratch ? 0 : std::numeric_limits<std::int64_t>::max(); }
};

/// A whole case: plain data, so that it can be made smaller piece by piece.
struct FuzzCase {
  Geometry geometry;
  Division division;
  std::vector<RefinedLevel> refined;
  std::vector<LabelSpec> labels;
  std::vector<ReductionKind> reductions;
  std::vector<PlanSpec> plans;  ///< the first runs first, once
  std::vector<int> steps;       ///< plans to run after it
  std::vector<ShapeSpec> shapes;

  LevelId finest() const { return static_cast<LevelId>(refined.size()); }
};

std::string taskName(int id);
std::string planName(std::size_t plan);
std::string asText(NumberType type);
/// What holds on a side of a component; likewise for a variable without components, which is component 0.
SideCondition conditionOf(const LabelSpec& label, int component, int side);
/// What holds on a part of that side; empty where there is none.
std::optional<SideCondition> partOf(const LabelSpec& label, int component);
/// The case as a person reads it: mesh, labels, plans, runs.
std::string asText(const FuzzCase& c);

}  // namespace tessera::fuzz
