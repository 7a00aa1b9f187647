#pragma once

#include "components/reflux/reflux.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera {

/// New of the coarse cells beside finer ones, in place: the fluxes of these count.
TaskBody fluxesOfFiner(Label<double, Cell> variable, const PassedLabels<double>& passed);
TaskBody fluxesOfFiner(Label<Components<double>, Cell> variable,
                       const PassedLabels<Components<double>>& passed);

}  // namespace tessera
