# Two thirds of a source's compile time goes into headers and templates that its neighbours need as well, so both are shared.
#
# Headers from outside that most sources need are parsed once: the standard library's for the program, GoogleTest's too
# for the tests. None of our own is among them, so a change of one compiles what includes it and nothing else. Each source
# still includes what it uses: a build with TESSERA_PRECOMPILED_HEADERS=OFF has to compile.
set(TESSERA_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring>
    <deque> <exception> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span>
    <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <type_traits> <unordered_map> <utility> <variant>
    <vector>)

# tessera_precompiled(target TESTS|PROGRAM [batch]): the target takes the headers that were parsed for all of its kind, and
# its sources are compiled `batch` (8) at a time (TESSERA_UNITY): sources of a folder stand together, so names in their unnamed
# namespaces have to differ. Those of the program that see JSON, whose header and templates cost 3 s an object, are compiled with
# one another.
# Kernels are left out: each is an object of its own. A build with TESSERA_UNITY=OFF has to compile as well.
function(tessera_precompiled target kind)
  if(TESSERA_UNITY)
    set(batch 8)
    if(ARGC GREATER 2)
      set(batch ${ARGV2})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "_kernels\\.cpp$")
    set_source_files_properties(${kernels} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    list(FILTER sources EXCLUDE REGEX "_kernels\\.cpp$")
    tessera_unity_groups(${target} ${kind} ${batch} ${sources})
  endif()
  if(NOT TESSERA_PRECOMPILED_HEADERS)
    return()
  endif()
  string(TOLOWER tessera_${kind}_headers owner)
  if(NOT TARGET ${owner})
    file(WRITE ${PROJECT_BINARY_DIR}/generated/${owner}.cpp "// Carries headers that are parsed once.\n")
    add_library(${owner} OBJECT ${PROJECT_BINARY_DIR}/generated/${owner}.cpp)
    set(headers ${TESSERA_STANDARD_HEADERS})
    target_link_libraries(${owner} PRIVATE tessera_abi tessera_flags Threads::Threads)
    if(kind STREQUAL "TESTS")
      target_link_libraries(${owner} PRIVATE GTest::gmock GTest::gtest tessera_test_flags)
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# tessera_unity_groups(target kind batch sources...): the groups that tessera_precompiled compiles together.
function(tessera_unity_groups target kind batch)
  foreach(sees IN ITEMS json plain)
    set(count_${sees} 0)
  endforeach()
  foreach(source IN LISTS ARGN)
    get_source_file_property(alone ${source} TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(alone OR NOT EXISTS ${path} OR NOT path MATCHES "\\.cpp$")
      continue()
    endif()
    file(STRINGS ${path} includes REGEX "^#include <nlohmann/json\\.hpp>" LIMIT_COUNT 1)
    set(sees plain)
    if(includes AND kind STREQUAL "PROGRAM")
      set(sees json)
    endif()
    math(EXPR group "${count_${sees}} / ${batch}")
    math(EXPR count_${sees} "${count_${sees}} + 1")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${sees}_${group})
  endforeach()
endfunction()

# tessera_cold(target): what runs once, or once a step, is optimised less: its objects take a quarter less time to compile.
function(tessera_cold target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  endif()
endfunction()

# tessera_unity_by_folder(target sources...): of components/, the sources of a component together, and those that components
# share: so a component that joins the build (TESSERA_PARTS) compiles no other one again.
function(tessera_unity_by_folder target)
  if(NOT TESSERA_UNITY)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/components ${source})
    string(REGEX MATCH "^[a-z]+/" folder "${path}")
    string(REPLACE "/" "" folder "${folder}")
    if(folder STREQUAL "")
      set(folder all)
    elseif(NOT folder IN_LIST TESSERA_COMPONENTS)
      set(folder shared)
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()
