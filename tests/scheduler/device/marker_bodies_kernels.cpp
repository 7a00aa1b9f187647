#include "tests/scheduler/device/marker_bodies_kernels.hpp"

namespace tessera {

template struct DeviceBody<test::Marker>;
template struct DeviceBody<test::ReadsUnset>;
template struct DeviceBody<test::MarksVector>;
template struct DeviceBody<test::Follower>;
template struct DeviceBody<test::ReadsOneCell>;
template struct DeviceBody<test::Silent>;

}  // namespace tessera
