#include "components/advection/advection_kernels.hpp"

namespace tessera {

template struct DeviceBody<AdvanceAdvection>;
template struct DeviceBody<CorrectAdvection>;
template struct DeviceBody<StableAdvectionDt>;

}  // namespace tessera
