#pragma once

#if defined(TESSERA_HAVE_CUDA)

#include <cstdint>
#include <memory>
#include <span>

#include "scheduler/device/backend/device_addresses.hpp"
#include "scheduler/device/backend/device_backend.hpp"

namespace tessera::detail {

/// A range of addresses of a GPU, by the virtual memory functions of the driver, which the GPUs of these
/// numbers reach too. The calling thread has the GPU as its own. Throws DeviceError; `info` outlives the
/// range.
std::unique_ptr<DeviceAddresses> makeCudaAddresses(const DeviceInfo& info,
                                                   std::span<const std::int32_t> peers, std::int64_t bytes,
                                                   std::int64_t pieceBytes);

}  // namespace tessera::detail

#endif
