#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "components/rmcrt/medium.hpp"
#include "components/rmcrt/ray_tracer.hpp"
#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

using MediumLabel = Label<MediumCell<double>, Cell>;

/// A number of each cell: a label, or the same everywhere.
struct RadiationInput {
  std::optional<Label<double, Cell>> label;
  double number = 0.0;
};

/// What the medium is made of.
struct MediumParams {
  RadiationInput absorption;
  RadiationInput heat;        ///< temperature, or the emissive power of a black body
  bool isTemperature = true;  ///< which of them
  double stefanBoltzmann = 0.0;
  std::optional<Label<double, Cell>> solid;
  double solidIntensity = 0.0;
  double solidEmissivity = 1.0;
};

/// Net flux of radiation on the walls, along the axes; 0 within the domain.
struct WallFluxLabels {
  Label<double, FaceX> x;
  Label<double, FaceY> y;
  Label<double, FaceZ> z;
};

struct RayParams {
  std::uint32_t rays = 100;
  std::uint32_t wallRays = 0;  ///< from each face of a wall; 0: no fluxes on walls
  bool fromCentre = false;
  bool stratified = false;
  std::int64_t halo = 4;  ///< fine cells around a patch that rays pass on a refined level
  std::uint32_t seed = 0;
  std::array<RaySurface, 6> sides;
  double mirroredOfSolids = 0.0;
  double threshold = 1e-4;
};

struct RadiationLabels {
  MediumLabel medium;
  Label<double, Cell> divQ;
  WallFluxLabels flux;
};

/// Sums for the history.
struct RadiationTotals {
  ReductionLabel loss;
  std::array<ReductionLabel, 6> walls;
};

/// Packs what rays need to know of each cell, from Old.
TaskBody packMedium(const MediumParams& params, MediumLabel medium);
/// New of the medium under finer patches becomes the mean of New over it. Needs `fromFiner()`.
TaskBody coarsenMedium(MediumLabel medium);
/// The divergence of the flux of radiation in each cell of a patch, and the fluxes on the walls beside it.
TaskBody traceRays(const RayParams& params, const RadiationLabels& labels);
/// The loss of the gas and the power that each wall takes up.
TaskBody totalsOfRadiation(const RayParams& params, const RadiationLabels& labels,
                           const RadiationTotals& totals);

}  // namespace tessera
