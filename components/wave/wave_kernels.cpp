#include "components/wave/wave_kernels.hpp"

namespace tessera {

template struct DeviceBody<DriftWave>;
template struct DeviceBody<KickWave>;
template struct DeviceBody<StableWaveDt>;

}  // namespace tessera
