# Components: libraries whose kernels are compiled once for each place that they run at. Installed, for components that
# are kept outside.

# tessera_kernels(target LINKS libraries... SOURCES sources...): adds sources of task bodies (taskgraph/task_body.hpp) to a
# target. Each is compiled once for loops of the host, with the build's optimisation, and again for checked runs and for
# devices: by nvcc in a build with CUDA, else for the emulated device.
function(tessera_kernels target)
  cmake_parse_arguments(ARG "" "" "LINKS;SOURCES" ${ARGN})
  if(TESSERA_CUDA)
    set(groups Cpu Checked Gpu CheckedGpu)
  else()
    set(groups Cpu Checked-Gpu-CheckedGpu)
  endif()
  foreach(group IN LISTS groups)
    set(sources "")
    foreach(source IN LISTS ARG_SOURCES)
      get_filename_component(path ${source} ABSOLUTE)
      if(TESSERA_CUDA AND group MATCHES "Gpu")
        # The language belongs to a source, and this one has two. Sources of different folders may have the same name.
        file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${path})
        string(REGEX REPLACE "\\.cpp$" "" name ${name})
        string(MAKE_C_IDENTIFIER ${name} name)
        set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels/${name}_${group}.cu)
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${path}\"\n")
        set(path ${wrapper})
      endif()
      list(APPEND sources ${path})
    endforeach()
    set(objects ${target}_${group})
    add_library(${objects} OBJECT ${sources})
    set_target_properties(${objects} PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS OFF CUDA_STANDARD 20)
    target_link_libraries(${objects} PRIVATE ${ARG_LINKS})
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    string(TOUPPER ${group} execs)
    string(REPLACE "-" ";TESSERA_KERNELS_" execs ${execs})
    target_compile_definitions(${objects} PRIVATE TESSERA_KERNELS TESSERA_KERNELS_${execs})
    if(NOT group STREQUAL "Cpu")
      # Checks and the emulated device are not there for speed.
      target_compile_options(${objects} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  if(TESSERA_CUDA)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
endfunction()

# tessera_task_kinds(target SOURCES sources...): adds sources that call makeProgram of a task engine
# (scheduler/engine/make_program.hpp) to a target: nvcc's in a build with CUDA.
function(tessera_task_kinds target)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  target_sources(${target} PRIVATE ${ARG_SOURCES})
  if(TESSERA_CUDA)
    set_source_files_properties(${ARG_SOURCES} PROPERTIES LANGUAGE CUDA)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
endfunction()

# tessera_kinds_library(name SOURCES sources...): the shared library `name` of kinds of tasks, for C, Fortran, Python and
# whoever loads it (scheduler/engine/kinds_library.hpp). It needs the engine's headers alone.
function(tessera_kinds_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${name} MODULE)
  tessera_task_kinds(${name} SOURCES ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:Tessera::engine,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${name} PRIVATE Tessera::abi)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS OFF CUDA_STANDARD 20
                                           POSITION_INDEPENDENT_CODE ON)
endfunction()

# tessera_component(name SOURCES sources...): the library `name` of one or more components. Sources whose names end in
# _kernels.cpp hold the bodies of tasks that run on the host and on devices, all others are plain.
#   tessera_component(decay SOURCES decay.cpp decay_kernels.cpp)
#   target_link_libraries(my_program PRIVATE decay Tessera::command_line)
function(tessera_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "tessera_component(${name}) has no sources: write tessera_component(${name} SOURCES a.cpp ...)")
  endif()
  set(kernels ${ARG_SOURCES})
  list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
  list(FILTER ARG_SOURCES EXCLUDE REGEX "_kernels\\.cpp$")
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC Tessera::components)
  if(kernels)
    tessera_kernels(${name} LINKS Tessera::components SOURCES ${kernels})
  endif()
endfunction()
