#pragma once

#if defined(TESSERA_HAVE_CUDA)

#include <cstdint>
#include <memory>

#include "scheduler/device/backend/device_addresses.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::detail {

/// A range of addresses of a GPU, by the virtual memory functions of the driver. The calling thread has the
/// GPU as its own. Throws DeviceError; `info` outlives the range.
std::unique_ptr<DeviceAddresses> makeCudaAddresses(const DeviceInfo& info, std::int64_t bytes,
                                                   std::int64_t pieceBytes);

}  // namespace tessera::detail

#endif
