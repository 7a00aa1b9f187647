#include "components/error_norms_kernels.hpp"

namespace tessera {

template struct DeviceBody<NormTotals>;

}  // namespace tessera
