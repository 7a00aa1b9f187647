# nvcc for the architectures of TESSERA_CUDA_ARCHS, with the host's compiler for the other half of each source. Installed:
# a component that is kept outside is compiled alike.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(TESSERA_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT TESSERA_NVCC)
    message(FATAL_ERROR "TESSERA_CUDA=ON needs nvcc, which is neither on the PATH nor in /usr/local/cuda/bin. Install "
                        "the CUDA toolkit, name its nvcc in CUDACXX, or build without GPUs (preset release).")
  endif()
  set(CMAKE_CUDA_COMPILER ${TESSERA_NVCC})
endif()
# Both halves of a source by the same compiler, or the program would hold two C++ standard libraries' idea of things.
set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
set(CMAKE_CUDA_ARCHITECTURES ${TESSERA_CUDA_ARCHS})
enable_language(CUDA)
find_package(CUDAToolkit 12 REQUIRED)

# CMake knows nvcc's option for C++20 since 3.25.2 only.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
