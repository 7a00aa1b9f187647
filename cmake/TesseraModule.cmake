# tessera_module(name [FOLDER folder] LINKS modules... EXTERNAL libraries... [WITHOUT folders...]): the library of one
# folder, by default that of its name, from all sources in it but those in folders that are modules of their own.
# Headers of EXTERNAL libraries are for its .cpp files alone.
function(tessera_module name)
  cmake_parse_arguments(ARG "" "FOLDER" "LINKS;EXTERNAL;WITHOUT" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${ARG_FOLDER}/*.cpp)
  foreach(folder IN LISTS ARG_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${folder}/")
  endforeach()
  if(sources)
    add_library(tessera_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(tessera_${name} PRIVATE $<BUILD_INTERFACE:tessera_flags> ${ARG_EXTERNAL})
    tessera_precompiled(tessera_${name} PROGRAM)
    if(name MATCHES "^(device|components)$")
      tessera_cuda_sources(tessera_${name} ${sources})
    endif()
  else()
    add_library(tessera_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tessera_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                                      $<INSTALL_INTERFACE:include/tessera>)
  target_link_libraries(tessera_${name} ${scope} tessera_abi Threads::Threads)
  foreach(link IN LISTS ARG_LINKS)
    target_link_libraries(tessera_${name} ${scope} tessera_${link})
  endforeach()
  set_target_properties(tessera_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(Tessera::${name} ALIAS tessera_${name})
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY TESSERA_MODULE_FOLDERS ${ARG_FOLDER})
endfunction()

# tessera_test(folder [MPI] LINKS modules...): one GoogleTest program from tests/<folder>/*.cpp.
# MPI: its cases initialise MPI or start programs that do. MPICH keeps some memory until the end, which the leak
# checker cannot tell from a leak, so it is off there and stays on in all others.
function(tessera_test folder)
  cmake_parse_arguments(ARG "MPI" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" program tessera_${folder}_tests)
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE tessera_flags tessera_test_flags GTest::gmock GTest::gtest_main)
  tessera_precompiled(${program} TESTS)
  if(folder STREQUAL "scheduler/device")
    tessera_cuda_sources(${program} ${sources})
    # Runs on machines that have a GPU and none of the other libraries.
    target_link_options(${program} PRIVATE LINKER:--as-needed)
  endif()
  foreach(link IN LISTS ARG_LINKS)
    target_link_libraries(${program} PRIVATE tessera_${link})
  endforeach()
  target_compile_definitions(${program} PRIVATE TESSERA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                TESSERA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(environment "")
  if(ARG_MPI)
    set(environment ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  endif()
  gtest_discover_tests(${program} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS ${folder} ${environment})
endfunction()

# For every test, whoever starts ctest: UCX, inside MPICH, hooks memory calls that the sanitizers hook as well
# (openucx/ucx#8475); and a job of several ranks that hangs is ended by its mpiexec, which leaves no process behind.
file(WRITE ${PROJECT_BINARY_DIR}/CTestCustom.cmake "set(ENV{UCX_MEM_EVENTS} no)\nset(ENV{MPIEXEC_TIMEOUT} 120)\n")
