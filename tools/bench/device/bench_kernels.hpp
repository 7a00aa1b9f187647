#pragma once

#include <cstdint>
#include <span>

#include "datawarehouse/field.hpp"
#include "scheduler/device/device_backend.hpp"
#include "scheduler/device/patch_batch.hpp"

namespace tessera::bench {

/// What the seven-point stencil works on.
struct StencilPatch {
  Field<const double> from;
  Field<double> to;
};

/// The stencil, written once for patches, over a batch of them.
void putStencil(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilPatch>& table,
                std::span<const std::int32_t> tasks);

/// The same by a kernel written by hand for one cube of n^3 cells, one plane and row wider on all sides, its
/// rows `row` elements long; `from` and `to` are at the column of the first cell, in the first row of all.
void putStencilByHand(DeviceBackend& device, DeviceStream stream, const double* from, double* to,
                      std::int64_t n, std::int64_t row);

/// A copy kernel, 16 bytes a thread.
void putCopy(DeviceBackend& device, DeviceStream stream, const double* from, double* to, std::int64_t count);

/// A kernel of one block that does nothing.
void putNothing(DeviceBackend& device, DeviceStream stream);

/// Zeros.
void putZeros(DeviceBackend& device, DeviceStream stream, double* to, std::int64_t count);

}  // namespace tessera::bench
