#pragma once

#include <array>

#include "components/lowmach/flow_labels.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// What something carried is on faces, and what of it passes them by diffusion: what coarse cells beside
/// finer ones take from these.
struct CarriedFaces {
  FlowFaces value;
  FlowFaces spread;  ///< of the begin of a stage
  FlowFaces after;   ///< of its end
};

/// Writes `faces.value` and `faces.spread` of what is carried at position `which`, from `stage.from`.
TaskBody carriedOnFaces(const FlowParams& params, const FlowStage& stage, std::size_t which,
                        const CarriedFaces& faces);

/// Writes `faces.after`, from `stage.to`.
TaskBody spreadOnFaces(const FlowParams& params, const FlowStage& stage, std::size_t which,
                       const CarriedFaces& faces);

/// Of what is carried in `stage.to`, coarse cells beside finer ones: what has passed the finer faces counts.
TaskBody refluxCarried(const FlowParams& params, const FlowStage& stage, std::size_t which,
                       const CarriedFaces& faces);

/// The same of the divergence that the velocity has to have, for all that is carried.
TaskBody refluxExpansion(const FlowParams& params, const FlowStage& stage,
                         const std::array<CarriedFaces, kFlowScalars>& faces);

/// Of what is carried in `state`, New, cells under finer ones: the mean of these by mass.
TaskBody meanByMass(const FlowState& state, std::size_t which);

}  // namespace tessera
