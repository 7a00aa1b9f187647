# hypre: linear solvers beside our own (solver.library = "hypre"). Found, never downloaded here: the one that
# `./tessera setup --with-hypre` builds into the cache. Only scheduler/solvers/hypre/ sees its headers, and a
# benchmark.
set(TESSERA_HYPRE_PREFIX "")
if(NOT TESSERA_HYPRE STREQUAL "OFF")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/tools/setup/hypre.sh prefix
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS ${prefix}/complete)
    set(TESSERA_HYPRE_PREFIX ${prefix})
    set(TESSERA_HYPRE_FOUND ${prefix} CACHE INTERNAL "hypre of this build")
    message(STATUS "hypre: ${prefix}")
  elseif(TESSERA_HYPRE STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_HYPRE=ON, but hypre is not in the cache. Run ./tessera setup --with-hypre, or name a "
                        "folder that holds its archive in TESSERA_ARCHIVES first.")
  else()
    message(STATUS "hypre is not here: decks that ask for it are refused; ./tessera setup --with-hypre builds it")
  endif()
endif()

# tessera_hypre(target sources...): gives the sources of a target that call hypre its headers, and the target the library.
function(tessera_hypre target)
  if(TESSERA_HYPRE_PREFIX)
    set_source_files_properties(${ARGN} PROPERTIES
                                COMPILE_DEFINITIONS TESSERA_HAVE_HYPRE
                                COMPILE_OPTIONS "-isystem;${TESSERA_HYPRE_PREFIX}/include"
                                SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(${target} PRIVATE ${TESSERA_HYPRE_PREFIX}/lib/libHYPRE.a PkgConfig::MPICH m)
  endif()
endfunction()
