# What a user can choose, and the compiler flags that every target gets.
option(TESSERA_BUILD_TESTS "Build the tests" ON)
option(TESSERA_ASSERTIONS "Check Tessera's own invariants (TESSERA_ASSERT)" OFF)
option(TESSERA_CHECKED_DEFAULT "Run in checked mode unless told otherwise" OFF)
option(TESSERA_BUILD_BENCHMARKS "Build the benchmark programs (tools/bench)" OFF)
option(TESSERA_NATIVE "Compile for this machine's processor only (-march=native)" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers, for example 'address,undefined' or 'thread'")
option(TESSERA_UNITY "Compile the sources of a room together, about eight at a time" ON)
option(TESSERA_PRECOMPILED_HEADERS "Parse the standard library's and GoogleTest's headers once for all sources" ON)
set(TESSERA_PARTS "all" CACHE STRING "What the program has: all, or some of its components and 'jobs' (TesseraParts.cmake)")
set(TESSERA_KOKKOS "AUTO" CACHE STRING "Use Kokkos: AUTO (where it is found), ON (an error where it is not), OFF")
set_property(CACHE TESSERA_KOKKOS PROPERTY STRINGS AUTO ON OFF)
set(TESSERA_HYPRE "AUTO" CACHE STRING "Use hypre: AUTO (where it is built), ON (an error where it is not), OFF")
set_property(CACHE TESSERA_HYPRE PROPERTY STRINGS AUTO ON OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Objects that take headers parsed beforehand are cached only where g++ names these in its preprocessed source, and
    # ccache is told that macros defined in them, and the time, do not matter.
    set(cached ${PROJECT_BINARY_DIR}/generated/cached_compiler.sh)
    file(CONFIGURE OUTPUT ${cached} CONTENT "export CCACHE_SLOPPINESS=pch_defines,time_macros
exec ${CCACHE} \"$@\" -fpch-preprocess
" @ONLY)
    set(CMAKE_CXX_COMPILER_LAUNCHER sh ${cached})
  endif()
endif()

# tessera_flags: how our own sources are compiled. Nothing of it reaches an outside program.
add_library(tessera_flags INTERFACE)
# Each is for the compilers of C and C++ alone: nvcc, where it is used, has its own (TesseraCuda.cmake).
set(host $<COMPILE_LANGUAGE:C,CXX>)
target_compile_options(tessera_flags INTERFACE $<${host}:-Wall> $<${host}:-Wextra> $<${host}:-Wconversion>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely inside its own std::string (GCC bug 105651).
  target_compile_options(tessera_flags INTERFACE $<${host}:-Wno-restrict>)
endif()

# Hardening: decks, checkpoints and meshes often come from elsewhere.
target_compile_options(tessera_flags INTERFACE $<${host}:-fPIE> $<${host}:-fstack-protector-strong>)
target_link_options(tessera_flags INTERFACE -pie LINKER:-z,relro,-z,now)
# The folders of the libraries linked, and nothing else: CMake's own padding of a build's list would mean "the current
# folder" to the loader.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Needs an optimising build, and the sanitizers bring their own, stricter checks.
  target_compile_options(tessera_flags INTERFACE $<${host}:-U_FORTIFY_SOURCE> $<${host}:-D_FORTIFY_SOURCE=2>)
endif()
if(TESSERA_NATIVE)
  target_compile_options(tessera_flags INTERFACE $<${host}:-march=native>)
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()

# tessera_test_flags: test code is compiled to be run once, so half of the optimiser's time is saved there.
add_library(tessera_test_flags INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(tessera_test_flags INTERFACE $<${host}:-O1>)
endif()

# tessera_abi: what our headers need wherever they are compiled, an outside component included.
add_library(tessera_abi INTERFACE)
add_library(Tessera::abi ALIAS tessera_abi)
target_compile_features(tessera_abi INTERFACE cxx_std_20)
# A fused multiply-add rounds once where a multiply and an add round twice. Whether the compiler fuses depends on the
# processor and on how a loop was unrolled, so with fusing the same deck would give other bits on another machine.
target_compile_options(tessera_abi INTERFACE $<${host}:-ffp-contract=off>)
if(TESSERA_ASSERTIONS)
  # The library's own checks cost time in hot loops: only where ours are on as well.
  target_compile_definitions(tessera_abi INTERFACE TESSERA_ASSERTIONS _GLIBCXX_ASSERTIONS)
endif()
