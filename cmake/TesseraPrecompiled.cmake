# Two thirds of a source's compile time goes into headers and templates that its neighbours need as well, so both are shared.
#
# Headers from outside that most sources need are parsed once: the standard library's for the program, GoogleTest's too
# for the tests. None of our own is among them, so a change of one compiles what includes it and nothing else. Each source
# still includes what it uses: a build with TESSERA_PRECOMPILED_HEADERS=OFF has to compile.
set(TESSERA_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring>
    <deque> <exception> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span>
    <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <type_traits> <unordered_map> <utility> <variant>
    <vector>)

# tessera_precompiled(target TESTS|PROGRAM): the target takes the headers that were parsed for all of its kind, and its
# sources are compiled some at a time (TESSERA_UNITY): sources of one folder stand together, so names in their unnamed
# namespaces have to differ. Kernels are left out: each is an object of its own. A build with TESSERA_UNITY=OFF has to
# compile as well.
function(tessera_precompiled target kind)
  if(TESSERA_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "_kernels\\.cpp$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
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
