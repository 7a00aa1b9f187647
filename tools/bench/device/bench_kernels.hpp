#pragma once

#include <cstdint>
#include <span>

#include "datawarehouse/read_only_field.hpp"
#include "scheduler/device/backend/device_backend.hpp"
#include "tools/bench/device/patch_batch.hpp"

namespace tessera::bench {

/// What the seven-point stencil works on.
struct StencilPatch {
  ReadOnlyField<double> from;
  Field<double> to;
};

/// The same with reads that the compiler has to order with the writes.
struct OrderedPatch {
  Field<double> from;
  Field<double> to;
};

/// The same as a task's kernel captures it: among fields that it does not use and numbers, 384 bytes.
struct StencilClosure {
  double numbers[8];
  Field<double> before[4];
  ReadOnlyField<double> from;
  Field<double> to;
  Field<double> behind[4];
};

/// Every cell times a number, where it is.
struct ScalePatch {
  Field<double> values;
};

/// A kernel for each of these, written once for patches, over a batch of them.
void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilPatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order = PatchOrder::Rising);
void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<OrderedPatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order = PatchOrder::Rising);
void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<StencilClosure>& table,
               std::span<const std::int32_t> tasks, PatchOrder order = PatchOrder::Rising);
void putKernel(DeviceBackend& device, DeviceStream stream, const PatchTable<ScalePatch>& table,
               std::span<const std::int32_t> tasks, PatchOrder order = PatchOrder::Rising);

/// The same by a kernel written by hand for one cube of n^3 cells, one plane and row wider on all sides, its
/// rows `row` elements long; `from` and `to` are at the column of the first cell, in the first row of all.
void putStencilByHand(DeviceBackend& device, DeviceStream stream, const double* from, double* to,
                      std::int64_t n, std::int64_t row);

/// A copy kernel, 16 bytes a thread.
void putCopy(DeviceBackend& device, DeviceStream stream, const double* from, double* to, std::int64_t count);

/// A kernel of one block that does nothing.
void putNothing(DeviceBackend& device, DeviceStream stream);

/// Values that differ from one to the next: memory moves zeros faster.
void putValues(DeviceBackend& device, DeviceStream stream, double* to, std::int64_t count);

}  // namespace tessera::bench
