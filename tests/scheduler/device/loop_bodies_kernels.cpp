#include "tests/scheduler/device/loop_bodies_kernels.hpp"

namespace tessera {

template struct DeviceBody<test::SmoothTwice>;
template struct DeviceBody<test::Branches>;
template struct DeviceBody<test::Reductions>;

}  // namespace tessera
