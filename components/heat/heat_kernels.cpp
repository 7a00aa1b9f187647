#include "components/heat/heat_kernels.hpp"

namespace tessera {

template struct DeviceBody<AdvanceHeat>;
template struct DeviceBody<StableHeatDt>;

}  // namespace tessera
