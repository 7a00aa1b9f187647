// The loops of solvers for devices: each kernel by name. nvcc compiles this in a build with CUDA.
#include "core/exec/device_exec.hpp"
#include "scheduler/solvers/composite/weighted_loops.hpp"
#include "scheduler/solvers/holes/hole_loops.hpp"
#include "scheduler/solvers/loops/assembly_loops.hpp"
#include "scheduler/solvers/loops/check_loops.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"
#include "scheduler/solvers/loops/recorded_loops.hpp"
#include "scheduler/solvers/loops/stencil_loops.hpp"
#include "scheduler/solvers/multigrid/coarsening_loops.hpp"

namespace tessera {
namespace {

/// Boxes of so many cells keep a GPU busy though a thread does many of them.
constexpr std::int64_t kLargeBox = std::int64_t{1} << 20;

template <class Kernel>
constexpr bool streams() {
  if constexpr (requires { Kernel::kStreams; }) {
    return Kernel::kStreams;
  } else {
    return false;
  }
}

}  // namespace

template <class Kernel>
void recordLoop(DeviceLoops& loops, const Box& box, const Kernel& kernel) {
  if constexpr (streams<Kernel>()) {
    if (box.volume() >= kLargeBox) return forEach(Gpu{&loops}, Kernel::kName, box, kernel);
  }
  forEachHeavy(Gpu{&loops}, Kernel::kName, box, kernel);
}

template <class Kernel, class Tag>
void recordReduction(DeviceLoops& loops, const Box& box, const Kernel& kernel, Tag how) {
  static_cast<void>(reduce(Gpu{&loops}, Kernel::kName, box, how, kernel));
}

template void recordLoop(DeviceLoops&, const Box&, const ApplyStencil<SymmetricFields>&);
template void recordLoop(DeviceLoops&, const Box&, const StencilResidual<SymmetricFields>&);
template void recordLoop(DeviceLoops&, const Box&, const StencilResidual<StencilFields>&);
template void recordLoop(DeviceLoops&, const Box&, const SmoothColour<SymmetricFields>&);
template void recordLoop(DeviceLoops&, const Box&, const SmoothColour<StencilFields>&);
template void recordLoop(DeviceLoops&, const Box&, const StartColour<SymmetricFields>&);
template void recordLoop(DeviceLoops&, const Box&, const StartColour<StencilFields>&);
template void recordLoop(DeviceLoops&, const Box&, const DivideByDiagonal&);
template void recordLoop(DeviceLoops&, const Box&, const InvertDiagonal&);
template void recordLoop(DeviceLoops&, const Box&, const AddMultiple&);
template void recordLoop(DeviceLoops&, const Box&, const ExtendDirection&);
template void recordLoop(DeviceLoops&, const Box&, const CopyCells&);
template void recordLoop(DeviceLoops&, const Box&, const ScaleCells&);
template void recordLoop(DeviceLoops&, const Box&, const SetCells&);
template void recordLoop(DeviceLoops&, const Box&, const CoarsenFaces<Field<double>>&);
template void recordLoop(DeviceLoops&, const Box&, const CoarsenFaces<FaceConducts>&);
template void recordLoop(DeviceLoops&, const Box&, const AddCarried&);
template void recordLoop(DeviceLoops&, const Box&, const CoarsenSums&);
template void recordLoop(DeviceLoops&, const Box&, const AddFromCoarse&);
template void recordLoop(DeviceLoops&, const Box&, const WeightedResidual&);
template void recordLoop(DeviceLoops&, const Box&, const WeightedRows&);
template void recordLoop(DeviceLoops&, const Box&, const HasEntries&);
template void recordLoop(DeviceLoops&, const Box&, const NextDirection&);
template void recordLoop(DeviceLoops&, const Box&, const Extrapolate&);
template void recordLoop(DeviceLoops&, const Box&, const FacesWithFlow&);
template void recordLoop(DeviceLoops&, const Box&, const CloseSide<SideValues>&);
template void recordLoop(DeviceLoops&, const Box&, const HoldValues&);
template void recordLoop(DeviceLoops&, const Box&, const CloseFaces&);
template void recordLoop(DeviceLoops&, const Box&, const ClearHoles&);
template void recordLoop(DeviceLoops&, const Box&, const LeaveOutHoles&);
template void recordLoop(DeviceLoops&, const Box&, const ChangeUnknowns&);
template void recordLoop(DeviceLoops&, const Box&, const BringPiece<false>&);
template void recordLoop(DeviceLoops&, const Box&, const BringPiece<true>&);
template void recordLoop(DeviceLoops&, const Box&, const PackPiece&);
template void recordLoop(DeviceLoops&, const Box&, const UnpackPiece<false>&);
template void recordLoop(DeviceLoops&, const Box&, const UnpackPiece<true>&);

template void recordReduction(DeviceLoops&, const Box&, const Product&, SumTag);
template void recordReduction(DeviceLoops&, const Box&, const WeightedProduct&, SumTag);
template void recordReduction(DeviceLoops&, const Box&, const WeightedSummand&, SumTag);
template void recordReduction(DeviceLoops&, const Box&, const DiffersFrom&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const DiffersFromRow&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const NumberBeside&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const AmountInSystem&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const FlowOfCell&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const IsHole&, MaxTag);
template void recordReduction(DeviceLoops&, const Box&, const BadMatrix&, MinTag);
template void recordReduction(DeviceLoops&, const Box&, const BadSource&, MinTag);
template void recordReduction(DeviceLoops&, const Box&, const ShutIn&, MinTag);
template void recordReduction(DeviceLoops&, const Box&, const HasAmount&, MinTag);

}  // namespace tessera
