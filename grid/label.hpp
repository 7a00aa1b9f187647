#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/element_type.hpp"
#include "grid/boundary_condition.hpp"
#include "grid/patch.hpp"
#include "grid/prolongation.hpp"

namespace tessera {

inline constexpr Centering Cell = Centering::Cell;
inline constexpr Centering Node = Centering::Node;
inline constexpr Centering FaceX = Centering::FaceX;
inline constexpr Centering FaceY = Centering::FaceY;
inline constexpr Centering FaceZ = Centering::FaceZ;

/// A number inside; names live in the LabelTable.
using LabelId = std::int32_t;

/// A typed variable name. A small value: copy it into kernels and members. Made by `LabelTable::variable`.
template <class T, Centering C>
struct Label {
  using Element = T;
  static constexpr Centering kCentering = C;
  LabelId id = -1;
};

/// The name of a number that all patches contribute to (a time step, a sum, an error norm).
struct ReductionLabel {
  LabelId id = -1;
};

/// The name of numbers that never change in a run. Made by `LabelTable::table`.
struct TableLabel {
  LabelId id = -1;
};

/// What is known of a constant table.
struct TableInfo {
  std::string name;
  std::shared_ptr<const std::vector<double>> values;
};

/// A variable on one level: what has producers and versions, and what a plan writes or leaves alone.
struct LevelLabel {
  LabelId label = -1;
  LevelId level = 0;
  friend auto operator<=>(const LevelLabel&, const LevelLabel&) = default;
};

/// What is known of a variable.
struct LabelInfo {
  std::string name;
  ElementType type;
  Centering centering = Centering::Cell;
  std::string unit;
  BoundaryConditions boundary;  ///< of all components that have none of their own
  std::vector<ComponentInfo> components;
  std::vector<BoundaryConditions> ofComponents;                       ///< empty, or of each component
  std::array<std::shared_ptr<const CodedCondition>, kSides> coded{};  ///< where not null, after all others
  LabelId stageOf = -1;    ///< the variable that it stands for within a step, see `LabelTable::approximates`
  double stagePart = 1.0;  ///< New is at this part of the step: 1 but for stages
  Prolongation prolongation = Prolongation::Constant;

  /// Of the numbers that lie in plane `component`.
  const BoundaryConditions& conditionsOf(std::int32_t component) const {
    return ofComponents.empty() ? boundary : ofComponents[static_cast<std::size_t>(component)];
  }
  /// Whether all of its numbers have a condition on all of that side.
  bool hasCondition(int side) const;
  /// "gas.density"; the name alone for a variable without components.
  std::string nameOf(std::int32_t component) const;
};

/// Whether a label can be called so: 1 to 100 letters, digits, '.', '_' or '-', the first of them not '.'.
bool isLabelName(std::string_view name);

/// All variable and reduction names of one simulation; ids are dense and count up in the order of first use.
/// Components couple by asking for the same name. Fill it on one thread, before the first compile.
class LabelTable {
 public:
  /// The label of that name, made at first use. A name that is known with another type or centering is noted
  /// in `faults`, and no plan of this table compiles. Names: letters, digits, '.', '_' and '-', at most 100.
  template <class T, Centering C>
  Label<T, C> variable(std::string_view name, std::string_view unit = "") {
    return {find(name, elementTypeOf<T>, C, unit)};
  }
  /// The label of a variable with these components, at least one, made at first use; likewise.
  ///
  ///   labels.components<double, Cell>("gas", {{"density", "kg/m^3"}, {"pressure", "Pa"}})
  template <class T, Centering C>
  Label<Components<T>, C> components(std::string_view name, std::vector<ComponentInfo> components) {
    return {find(name, elementTypeOf<T>, C, std::move(components))};
  }
  /// With components that have numbers for names: "0", "1" ...
  template <class T, Centering C>
  Label<Components<T>, C> components(std::string_view name, int count, std::string_view unit = "") {
    return components<T, C>(name, numbered(count, unit));
  }
  /// The reduction of that name, made at first use.
  ReductionLabel reduction(std::string_view name);

  /// Numbers that tasks look up and nobody changes: a state relation, opacities, rates. One copy of them
  /// serves all tasks of a rank, and one on each of its devices those that run there. Tasks say
  /// `.reads(table)` and ask for `task.table(table)`. A name that is known with other numbers is noted in
  /// `faults`.
  TableLabel table(std::string_view name, std::vector<double> values);

  /// `stage` stands for `variable` within a step: its New value is that at `part` of the step, from 0, the
  /// begin, to 1, the end. Conditions of time of the stage then hold at that time, and not at the end of the
  /// step. Anything else is noted in `faults`.
  ///
  ///   labels.approximates(half, u, 0.5);
  template <class T, Centering C>
  void approximates(Label<T, C> stage, Label<T, C> variable, double part) {
    setStage(stage.id, variable.id, part);
  }

  template <class T, Centering C>
  void setBoundary(Label<T, C> label, BoundaryConditions conditions) {
    infos_[static_cast<std::size_t>(label.id)].boundary = std::move(conditions);
    infos_[static_cast<std::size_t>(label.id)].ofComponents.clear();
  }
  /// A condition that a component codes, beyond one side. Where that side has others, it changes what they
  /// have left.
  template <class T, Centering C>
  void setBoundary(Label<T, C> label, int side, CodedCondition condition) {
    infos_[static_cast<std::size_t>(label.id)].coded[static_cast<std::size_t>(side)] =
        std::make_shared<const CodedCondition>(std::move(condition));
  }
  /// The conditions of each component.
  template <class T, Centering C>
  void setBoundary(Label<Components<T>, C> label, std::vector<BoundaryConditions> conditions) {
    setBoundaries(label.id, std::move(conditions));
  }

  /// What halos beyond the border of a refined region mean. Linear ones ask for coarser cells as far as the
  /// halo reaches and one more to all sides, also beyond sides of the domain, where the variable then needs a
  /// condition. Whole numbers are cut to whole numbers.
  template <class T, Centering C>
  void setProlongation(Label<T, C> label, Prolongation prolongation) {
    infos_[static_cast<std::size_t>(label.id)].prolongation = prolongation;
  }

  const LabelInfo& info(LabelId id) const { return infos_[static_cast<std::size_t>(id)]; }
  LabelId count() const { return static_cast<LabelId>(infos_.size()); }
  const std::string& reductionName(LabelId id) const { return reductions_[static_cast<std::size_t>(id)]; }
  LabelId reductionCount() const { return static_cast<LabelId>(reductions_.size()); }
  const TableInfo& table(LabelId id) const { return tables_[static_cast<std::size_t>(id)]; }
  LabelId tableCount() const { return static_cast<LabelId>(tables_.size()); }
  /// Uses of one name for different kinds of data, each a paragraph with a fix; reported with the faults of
  /// the plans, all at once.
  const std::vector<std::string>& faults() const { return faults_; }
  /// The id of a variable name, or -1.
  LabelId idOf(std::string_view name) const;

 private:
  LabelId find(std::string_view name, ElementType type, Centering centering, std::string_view unit);
  LabelId find(std::string_view name, ElementType type, Centering centering,
               std::vector<ComponentInfo> components);
  void setStage(LabelId stage, LabelId variable, double part);
  void setBoundaries(LabelId label, std::vector<BoundaryConditions> conditions);
  static std::vector<ComponentInfo> numbered(int count, std::string_view unit);

  std::vector<LabelInfo> infos_;
  std::vector<std::string> reductions_;
  std::vector<TableInfo> tables_;
  std::vector<std::string> faults_;
};

}  // namespace tessera
