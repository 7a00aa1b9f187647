# What a user can choose, and the compiler flags that every target gets.
option(TESSERA_BUILD_TESTS "Build the tests" ON)
option(TESSERA_ASSERTIONS "Check Tessera's own invariants (TESSERA_ASSERT)" OFF)
option(TESSERA_CHECKED_DEFAULT "Run in checked mode unless told otherwise" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers, for example 'address,undefined' or 'thread'")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(tessera_flags INTERFACE)
target_compile_options(tessera_flags INTERFACE -Wall -Wextra -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely inside its own std::string (GCC bug 105651).
  target_compile_options(tessera_flags INTERFACE -Wno-restrict)
endif()
if(TESSERA_ASSERTIONS)
  target_compile_definitions(tessera_flags INTERFACE TESSERA_ASSERTIONS)
endif()
if(TESSERA_SANITIZE)
  target_compile_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
