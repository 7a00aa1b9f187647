#include "tests/wide_halo/wide_bodies_kernels.hpp"

namespace tessera {

template struct DeviceBody<bench::WideInitial>;
template struct DeviceBody<bench::WideKeep>;
template struct DeviceBody<bench::WideMean>;
template struct DeviceBody<bench::WideTurn>;

}  // namespace tessera
