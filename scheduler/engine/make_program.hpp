#pragma once

#include "scheduler/engine/program.hpp"

#if defined(__CUDACC__)
#include "scheduler/engine/detail/super_kernel.hpp"
#endif

namespace tessera::engine {

/// The program of a list of kinds. Call it in one source, whose name ends in `_kernels.cpp` so that nvcc
/// compiles it in a build for GPUs:
///
///   const Program& myProgram() {
///     static const Program program = makeProgram<Axpy, Dot>("mine");
///     return program;
///   }
///
/// The super-kernel of that program is compiled there; every other source includes the kinds and engine.hpp
/// only.
template <TaskKind... Kinds>
Program makeProgram(std::string name) {
  using List = KindList<Kinds...>;
  Program program;
  program.name = std::move(name);
  program.kinds = infosOf(List{});
  program.runOnHost = &runOnHost<List>;
#if defined(__CUDACC__)
  program.device = &deviceProgramOf<List>();
#endif
  return program;
}

}  // namespace tessera::engine
