#pragma once

#include <array>
#include <cstddef>

#include "components/lowmach/state_relation.hpp"
#include "core/geometry/index.hpp"
#include "core/kernel.hpp"
#include "grid/generation.hpp"
#include "grid/geometry.hpp"
#include "grid/label.hpp"
#include "taskgraph/step_plan.hpp"

namespace tessera {

/// A number on the faces across each resolved axis. Labels of axes of one cell are not made.
struct FlowFaces {
  Label<double, FaceX> x;
  Label<double, FaceY> y;
  Label<double, FaceZ> z;
};

/// Calls `visit(axis, label)` for the axes that are resolved.
template <class Visit>
void forEachAxis(const FlowFaces& faces, Visit&& visit) {
  if (faces.x.id >= 0) visit(0, faces.x);
  if (faces.y.id >= 0) visit(1, faces.y);
  if (faces.z.id >= 0) visit(2, faces.z);
}

/// The labels "NAME_x", "NAME_y", "NAME_z" of the resolved axes.
FlowFaces flowFaces(LabelTable& labels, const Geometry& geometry, const std::string& name,
                    const std::string& unit);

/// What fluid carries along, of a unit of mass. Not made where the deck does not ask for it. The heat is a
/// temperature or an enthalpy.
enum FlowScalar : std::size_t { kMixture, kHeat };
inline constexpr std::size_t kFlowScalars = 2;

/// Labels of something carried at one moment.
struct CarriedLabels {
  Label<double, Cell> value;
  Label<double, Cell> source;  ///< per volume and time, where the deck gives one

  bool isThere() const { return value.id >= 0; }
};

/// What the flow is at one moment: at the begin or the end of a step, or at a stage of it.
struct FlowState {
  FlowFaces velocity;
  Label<double, Cell> density;  ///< where it varies
  std::array<CarriedLabels, kFlowScalars> carried;
  Label<double, Cell> massSource;  ///< mass that arises, per volume and time, where the deck gives some
};

/// One stage of a Runge-Kutta method: `to` = ofOld * Old + ofStage * (what a step of forward Euler makes of
/// `from`), and then the part of it that has the divergence asked for.
struct FlowStage {
  Generation generation = Generation::Old;  ///< of `from`
  FlowState from;
  FlowState to;
  double ofOld = 0.0;
  double ofStage = 1.0;
};

/// What the sides of the domain are to the velocity across them.
enum class FlowSide {
  Closed,   ///< nothing passes
  Given,    ///< the deck says what passes
  Open,     ///< the pressure is given
  Periodic  ///< or of an axis of one cell
};

/// How the viscosity of eddies that cells do not resolve is found.
enum class Turbulence { None, Smagorinsky, Dynamic };

/// That viscosity; it holds for a step.
struct EddyParams {
  Turbulence model = Turbulence::None;
  double constant = 0.17;         ///< Smagorinsky's
  double perSchmidt = 1.0;        ///< 1 over the Schmidt number of eddies
  Label<double, Cell> viscosity;  ///< dynamic
  ReductionLabel product;         ///< of the dynamic model: sums of L M and of M M
  ReductionLabel square;

  bool isThere() const { return model != Turbulence::None; }
};

/// Solid cells within the domain; their faces are closed, and nothing changes in them.
struct SolidParams {
  bool areThere = false;
  Label<double, Cell> fluid;                 ///< 1 where there is fluid, 0 in solid cells
  FlowFaces open;                            ///< 1 where both cells of a face hold fluid, else 0
  ReductionLabel cells;                      ///< number of cells with fluid, where the domain is closed
  std::array<bool, kFlowScalars> areHeld{};  ///< what is carried keeps a given value in solid cells
};

struct FlowParams {
  std::array<bool, kAxes> active{};  ///< axes of more than one cell
  std::array<FlowSide, kSides> sides{};
  bool limited = false;  ///< momentum is carried by limited slopes
  bool densityVaries = false;
  double density = 1.0;    ///< where it does not vary
  double viscosity = 0.0;  ///< of the mixture fraction 0
  double viscosityByMixture = 0.0;
  Real3 gravity;
  double referenceDensity = 0.0;  ///< whose weight the pressure does not have
  StateKind state = StateKind::Mixing;
  MixingState mixing;
  FlameState flame;
  StateTableShape tableShape;
  TableLabel table;
  bool limitedScalars = true;
  std::array<double, kFlowScalars> diffusivity{};  ///< times density
  std::array<double, kFlowScalars> arising{};      ///< what mass that arises carries
  FlowFaces flux;                                  ///< mass through faces, where the density varies
  FlowFaces lightness;                             ///< 1 over the density on open faces
  bool isClosed = false;                           ///< nothing passes any side, while the density varies
  ReductionLabel excess;                           ///< sum of what a closed domain has no room for
  Label<double, Cell> expansion;                   ///< the divergence that the velocity has to have, likewise
  EddyParams eddies;
  SolidParams solids;
  bool hasForce = false;
  FlowFaces force;  ///< per unit of volume

  /// The first axis of more than one cell.
  int firstAxis() const { return active[0] ? 0 : active[1] ? 1 : 2; }
  /// The largest of viscosity and diffusivities, times density.
  double largestDiffusivity() const {
    const double ofMixture = viscosity + viscosityByMixture;
    double largest = viscosity > ofMixture ? viscosity : ofMixture;
    for (const double one : diffusivity) largest = one > largest ? one : largest;
    return largest;
  }
  /// A density that is the same everywhere is divided out of everything.
  double perDensity() const { return densityVaries ? 1.0 : 1.0 / density; }
  /// Whether faces conduct the pressure differently.
  bool hasLightness() const { return densityVaries || solids.areThere; }
  /// Whether fluxes need more than the numbers of the deck: eddies or closed faces.
  bool isGeneral() const { return eddies.isThere() || solids.areThere; }
};

/// Layers of a halo that reach `layers` beyond the outermost borders of a patch, also along the axis where
/// the upper border is its own.
constexpr HaloClause aroundFaces(std::int64_t layers) { return halo(layers, layers + 1); }

/// Adds the reads of all faces to a task.
inline void readsFaces(TaskBuilder& task, Generation generation, const FlowFaces& faces,
                       const HaloClause& clause) {
  forEachAxis(faces, [&](int, auto label) { task.reads(generation, label, clause); });
}
inline void readsFaces(TaskBuilder& task, Generation generation, const FlowFaces& faces) {
  forEachAxis(faces, [&](int, auto label) { task.reads(generation, label); });
}
inline void writesFaces(TaskBuilder& task, const FlowFaces& faces) {
  forEachAxis(faces, [&](int, auto label) { task.writes(label); });
}

}  // namespace tessera
