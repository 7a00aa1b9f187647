# GPUs: a build with TESSERA_CUDA=ON (preset cuda) compiles the sources whose names end in _kernels.cpp, and those that
# see Kokkos, with nvcc; all others stay g++'s. A build without it needs nothing of CUDA.
option(TESSERA_CUDA "Build for NVIDIA GPUs too (needs nvcc)" OFF)
set(TESSERA_CUDA_ARCHS "80;90" CACHE STRING "Compute capabilities that kernels are compiled for, without the dot")

if(TESSERA_CUDA)
  include(TesseraCudaLanguage)
  if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  endif()

  # A fused multiply-add rounds once where the CPU rounds twice
  # (see -ffp-contract in TesseraOptions.cmake): without it a GPU's sums and products have the CPU's bits.
  # Extended lambdas are kernels that a task's body writes as closures, [=] TESSERA_KERNEL (Index x) {...}.
  # Kernels may call constexpr functions, Vec's operators and std::array's for example. Any other function of the host
  # that a kernel calls is an error: nvcc by itself warns, and leaves the call out of the device's code.
  target_compile_options(tessera_abi INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>
                                               $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>
                                               $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>
                                               $<$<COMPILE_LANGUAGE:CUDA>:--Werror=cross-execution-space-call>
                                               $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)
  # Says to headers that bodies for devices are compiled by nvcc (taskgraph/task_body.hpp).
  target_compile_definitions(tessera_abi INTERFACE TESSERA_HAVE_CUDA)
  # Host code of nvcc's is written by a program: warnings of style would be about that.
  target_compile_options(tessera_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIE$<COMMA>-fstack-protector-strong$<COMMA>-Wall>)
  # Kokkos asks for the driver's library, which only machines with a GPU have; core/profile/kokkos_annotations.cpp has what it calls.
  target_link_options(tessera_flags INTERFACE LINKER:--as-needed)
endif()

# tessera_cuda_sources(target sources...): which of a target's sources are nvcc's. From the folder that made the target.
function(tessera_cuda_sources target)
  if(NOT TESSERA_CUDA)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_kernels\\.cpp$")
      set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()
