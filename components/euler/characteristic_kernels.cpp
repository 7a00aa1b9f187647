#include "components/euler/stage_of_euler.hpp"

namespace tessera {

[[gnu::weak]] TaskBody characteristicStageOfEuler(const EulerParams& params, const EulerStage& stage,
                                                  GasLabel gas, const EulerFluxLabels& fluxes,
                                                  const EulerNotes& notes) {
  return taskBody<Cpu, Gpu>(StageOfEuler<true>{params, stage, gas, fluxes, notes});
}

}  // namespace tessera
