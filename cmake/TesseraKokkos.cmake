# Kokkos: device launches and, in every build, task names for Kokkos tools. Found, never downloaded here: an
# installed one first, then the one that `./tessera setup` builds into the cache, in the flavour that this build
# needs: Kokkos with CUDA is compiled by nvcc, and so is what includes it. Only core/profile/kokkos_annotations.cpp sees its headers.
set(TESSERA_KOKKOS_VERSION "")
if(NOT TESSERA_KOKKOS STREQUAL "OFF")
  # A Kokkos with a parallel host back end would start threads beside ours; only the pinned version is tried.
  if(TESSERA_CUDA)
    set(flavour cuda)
    list(JOIN TESSERA_CUDA_ARCHS " " archs)
    set(environment CUDACXX=${CMAKE_CUDA_COMPILER} "TESSERA_CUDA_ARCHS=${archs}")
  else()
    set(flavour cpu)
    set(environment "")
    find_package(Kokkos 5.0.2 EXACT CONFIG QUIET)
  endif()
  if(NOT Kokkos_FOUND)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} ${environment}
                            ${PROJECT_SOURCE_DIR}/tools/setup/kokkos.sh prefix ${flavour}
                    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(EXISTS ${prefix}/complete)
      find_package(Kokkos 5.0.2 EXACT CONFIG QUIET PATHS ${prefix} NO_DEFAULT_PATH)
    endif()
  endif()
  if(Kokkos_FOUND)
    set(TESSERA_KOKKOS_VERSION ${Kokkos_VERSION})
    message(STATUS "Kokkos ${Kokkos_VERSION}: ${Kokkos_DIR}")
  elseif(TESSERA_KOKKOS STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_KOKKOS=ON, but Kokkos 5.0.2 is neither installed nor in the cache. "
                        "Run ./tessera setup, or name a folder that holds its archive in TESSERA_ARCHIVES first.")
  else()
    message(STATUS "Kokkos 5.0.2 is not here: this build has no task names for Kokkos tools and no GPU; "
                   "./tessera setup fetches it")
  endif()
endif()

# tessera_kokkos(module): gives the module the one source that knows Kokkos, with the library where it is there: an object of its
# own, so that nothing else is compiled again once Kokkos has come.
function(tessera_kokkos module)
  set(source ${PROJECT_SOURCE_DIR}/core/profile/kokkos_annotations.cpp)
  add_library(tessera_kokkos_object OBJECT ${source})
  target_link_libraries(tessera_kokkos_object PRIVATE tessera_flags tessera_abi)
  target_include_directories(tessera_kokkos_object PRIVATE ${PROJECT_SOURCE_DIR})
  target_sources(tessera_${module} PRIVATE $<TARGET_OBJECTS:tessera_kokkos_object>)
  if(TESSERA_KOKKOS_VERSION)
    target_compile_definitions(tessera_kokkos_object PRIVATE TESSERA_HAVE_KOKKOS)
    target_link_libraries(tessera_kokkos_object PRIVATE Kokkos::kokkos)
    target_link_libraries(tessera_${module} PRIVATE $<LINK_ONLY:Kokkos::kokkos>)
    if(TESSERA_CUDA)
      set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    endif()
  endif()
endfunction()
