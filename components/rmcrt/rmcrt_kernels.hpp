#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "components/rmcrt/boxes/ray_box.hpp"
#include "components/rmcrt/medium.hpp"
#include "components/rmcrt/radiometers/radiometer.hpp"
#include "components/rmcrt/ray_tracer.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// What rays read, of double or float, of matter that scatters or does not.
using MediumLabel = std::variant<Label<MediumCell<double>, Cell>, Label<MediumCell<double, 3>, Cell>,
                                 Label<MediumCell<float>, Cell>, Label<MediumCell<float, 3>, Cell>>;

/// A number of each cell: a label, or the same everywhere.
struct RadiationInput {
  std::optional<Label<double, Cell>> label;
  double number = 0.0;
};

/// Bodies in the medium.
struct RaySolids {
  Label<double, Cell> where;  ///< not 0 in solid cells
  RadiationInput temperature;
  RadiationInput emissivity;
};

/// What the medium is made of.
struct MediumParams {
  RadiationInput absorption;
  std::optional<RadiationInput> scattering;
  RadiationInput heat;        ///< temperature, or the emissive power of a black body
  bool isTemperature = true;  ///< which of them
  double stefanBoltzmann = 0.0;
  std::optional<RaySolids> solid;
};

/// Net flux of radiation on the walls, along the axes; 0 within the domain.
struct WallFluxLabels {
  Label<double, FaceX> x;
  Label<double, FaceY> y;
  Label<double, FaceZ> z;
};

/// The walls of the domain in a constant table, as RayWalls reads it.
struct WallTable {
  TableLabel table;
  std::array<RayWall, 6> sides{};
};

struct RayParams {
  std::uint32_t rays = 100;
  std::uint32_t wallRays = 0;  ///< from each face of a wall; 0: no fluxes on walls
  bool fromCentre = false;
  bool stratified = false;
  std::int64_t halo = 4;  ///< fine cells around a patch that rays pass on a refined level
  /// Cells of each of the two next coarser levels that they pass then, before level 0; none: nothing of a
  /// level between.
  std::optional<std::int64_t> middleHalo;
  std::uint32_t seed = 0;
  WallTable walls;
  double mirroredOfSolids = 0.0;
  double threshold = 1e-4;
};

struct RadiationLabels {
  MediumLabel medium;
  std::optional<Label<double, Cell>> divQ;
  std::optional<Label<double, Cell>> incident;
  WallFluxLabels flux;
  std::vector<RayBox> boxes;
  /// Sums of the parts of the rays of each cell (RayParts); none where one task follows all rays of a patch.
  std::vector<Label<double, Cell>> parts;
};

/// What a task of a step with radiation does.
struct RayWork {
  bool cells = false;               ///< divergence of the flux, and what arrives
  RayParts parts{};                 ///< of the rays of the cells
  std::array<bool, kAxes> walls{};  ///< fluxes on the walls across an axis
  std::vector<RayBox> boxes{};      ///< powers that leave them
};

/// Sums for the history.
struct RadiationTotals {
  ReductionLabel loss;
  std::array<ReductionLabel, 6> walls;
};

/// Packs what rays need to know of each cell, from Old.
template <class Medium>
TaskBody packMedium(const MediumParams& params, Label<Medium, Cell> medium);
/// The same, and under finer patches the mean of New over them. Needs `fromFiner()`. In one task, since halos
/// of finer patches take what the level has in the end.
template <class Medium>
TaskBody packCoarseMedium(const MediumParams& params, Label<Medium, Cell> medium);
/// The divergence of the flux of radiation in each cell of a patch, and the fluxes on the walls beside it: as
/// much of that as `work` says.
template <class Medium>
TaskBody traceRays(Label<Medium, Cell> medium, const RayParams& params, const RadiationLabels& labels,
                   const RayWork& work);
/// The divergence of the flux, from the sums of parts of the rays.
template <class Medium>
TaskBody sumRays(Label<Medium, Cell> medium, const RayParams& params, const RadiationLabels& labels);
/// What radiometers read that stand in the patch: contributions, from Old of the medium.
template <class Medium>
TaskBody readRadiometers(Label<Medium, Cell> medium, const RayParams& params,
                         const std::vector<Radiometer>& radiometers);
/// The loss of the gas, the power that each wall takes up and that leaves each box.
TaskBody totalsOfRadiation(const RayParams& params, const RadiationLabels& labels,
                           const RadiationTotals& totals);

}  // namespace tessera
