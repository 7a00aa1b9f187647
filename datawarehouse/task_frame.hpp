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
#include "datawarehouse/table_view.hpp"
#include "grid/access_mode.hpp"
#include "grid/final_loop.hpp"
#include "grid/hierarchy.hpp"
#include "grid/label.hpp"
#include "grid/reach.hpp"

namespace tessera {

/// Accesses of one task at most.
inline constexpr std::size_t kMostAccesses = 96;

/// One declared access, resolved to memory.
struct TaskAccess {
  AccessMode mode = AccessMode::ReadOld;
  Reach reach = Reach::Patch;
  LabelId label = -1;
  LevelId level = 0;  ///< whose indices
  std::byte* data = nullptr;
  Layout layout;
  Box declared;  ///< indices that the task may touch; of plain reads in checked mode only
  std::vector<std::uint8_t>* written =
      nullptr;                ///< checked mode: by component, one mark an index of `declared`
  bool sharedWindow = false;  ///< other patches' values lie in the window of `layout` as well
  bool facesOnly = false;  ///< checked mode: no index that lies outside of the patch along more than one axis
  bool holes = false;  ///< checked mode: a whole level that patches cover in part; the rest may not be read
  Box inner{};         ///< where `facesOnly`, on a device: the patch, with what it owns
  KernelErrors findings{};        ///< of a task on a device
  std::uint8_t* marks = nullptr;  ///< what `written` is, in checked mode on a device

  /// Whether the task has to leave each index written.
  bool writesAll() const { return mode == AccessMode::Write; }
  /// Whether checked mode marks what is written.
  bool isMarked() const { return mode == AccessMode::Write || mode == AccessMode::Scratch; }
};

/// What an access declares to write, as a kernel looks for NaN in it; of numbers that are not whole.
inline FinalValues finalValues(const TaskAccess& access, ElementType type) {
  const std::int64_t each = type.elementBytes() / 4;
  const std::int64_t number = type.scalarBytes() / 4;
  return {reinterpret_cast<const std::uint32_t*>(access.data) + access.layout.at(Index{}) * each,
          each,
          access.layout.strideJ * each,
          access.layout.strideK * each,
          type.planes() > 1 ? access.layout.strideC * number : number,
          type.components,
          type.scalar == Scalar::Float64,
          access.findings};
}

/// What one patch of a task contributed to one reduction. Sums are exact, so that any order gives the same
/// bits: they are kept once a thread, and not once a patch.
struct PatchContribution {
  LabelId reduction = -1;
  double value = 0.0;       ///< of Min and Max
  ExactSum* sum = nullptr;  ///< of Sum: what the thread that runs the task adds up, of all its patches
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
  const Patch* patch = nullptr;  ///< empty for a task that runs once a rank, or once a rank and level
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
  const TaskFrame* patches = nullptr;  ///< of a task that runs once a level: what it sees of each own patch
  std::size_t patchCount = 0;
  std::span<const LabelId> readsReduced;  ///< reductions that the task declares to read
  std::span<const LabelId> readsTables;   ///< constant tables that the task declares to read
  std::span<const TableView> tables;      ///< by table, where the task runs
  std::span<const double> reduced;        ///< by reduction, what earlier items of the step program have found
};

}  // namespace tessera
