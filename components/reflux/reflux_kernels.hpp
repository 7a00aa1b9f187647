#pragma once

#include "components/reflux/reflux.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// New of the coarse cells beside finer ones, in place: the fluxes of these count.
TaskBody fluxesOfFiner(Label<double, Cell> variable, const PassedLabels<double>& passed);
TaskBody fluxesOfFiner(Label<Components<double>, Cell> variable,
                       const PassedLabels<Components<double>>& passed);

/// New of the sums becomes nought on all faces.
TaskBody noFluxes(const PassedLabels<double>& passed);
TaskBody noFluxes(const PassedLabels<Components<double>>& passed);

/// Adds what has passed the faces on the borders of the patch, of New, to New of the sums in place.
TaskBody sumOfFluxes(const PassedLabels<double>& passed);
TaskBody sumOfFluxes(const PassedLabels<Components<double>>& passed);

}  // namespace tessera
