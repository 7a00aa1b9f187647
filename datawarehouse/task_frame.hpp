#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/exact_sum.hpp"
#include "core/exec/final_values.hpp"
#include "core/exec/kernel_errors.hpp"
#include "datawarehouse/field.hpp"
#include "grid/final_loop.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/reach.hpp"

namespace tessera {

/// What a running task may do with one variable.
enum class AccessMode : std::uint8_t { ReadOld, ReadNew, Write, Modify };

constexpr bool isOutput(AccessMode mode) { return mode == AccessMode::Write || mode == AccessMode::Modify; }

/// One declared access, resolved to memory.
struct TaskAccess {
  AccessMode mode = AccessMode::ReadOld;
  Reach reach = Reach::Patch;
  LabelId label = -1;
  LevelId level = 0;  ///< whose indices
  std::byte* data = nullptr;
  Layout layout;
  Box declared;  ///< indices that the task may touch; of plain reads in checked mode only
  std::vector<std::uint8_t>* written = nullptr;  ///< checked mode: one mark an index of `declared`
  bool sharedWindow = false;  ///< other patches' values lie in the window of `layout` as well
  bool facesOnly = false;  ///< checked mode: no index that lies outside of the patch along more than one axis
  bool holes = false;  ///< checked mode: a whole level that patches cover in part; the rest may not be read
  Box inner{};         ///< where `facesOnly`, on a device: the patch, with what it owns
  KernelErrors findings{};        ///< of a task on a device
  std::uint8_t* marks = nullptr;  ///< what `written` is, in checked mode on a device
};

/// What an access declares to write, as a kernel looks for NaN in it; of numbers that are not whole.
inline FinalValues finalValues(const TaskAccess& access, ElementType type) {
  const std::int64_t each = type.bytes() / 4;
  return {reinterpret_cast<const std::uint32_t*>(access.data) + access.layout.at(Index{}) * each,
          access.layout.strideJ * each,
          access.layout.strideK * each,
          type.components,
          type.scalar == Scalar::Float64,
          access.findings};
}

/// What one patch of a task contributed to one reduction.
struct PatchContribution {
  LabelId reduction = -1;
  double value = 0.0;
  ExactSum sum;
  bool given = false;
};

class Prefetcher;
class FiniteWatch;
class LoopWatch;
class DeviceLoops;

/// Everything one run of one task on one patch sees; made by the step runner, read by PatchTask.
struct TaskFrame {
  std::string_view task;         ///< name, for messages
  std::string_view declaredAt;   ///< "components/heat/heat.cpp:41"
  const Patch* patch = nullptr;  ///< empty for a task that runs once a rank
  const Level* level = nullptr;
  const Hierarchy* hierarchy = nullptr;
  const LabelTable* labels = nullptr;
  std::span<const TaskAccess> accesses;
  std::span<PatchContribution> contributions;
  std::span<const FinalLoop> finalLoops;  ///< which loops of the body compute final values
  FiniteWatch* watch = nullptr;           ///< empty where nobody looks for NaN, and in checked mode
  LoopWatch* loopNames = nullptr;         ///< checked mode: hears which loops the body has
  Prefetcher* ahead = nullptr;            ///< what loops ask for meanwhile; may be empty
  DeviceLoops* loops = nullptr;           ///< of a task on a device: what takes the loops of its body
  double time = 0.0;                      ///< of Old
  double dt = 0.0;
  bool usesDt = true;  ///< false: declared `.withoutDt()`
  std::int64_t step = 0;
};

}  // namespace tessera
