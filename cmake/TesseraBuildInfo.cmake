# core/build_info.hpp promises what a program was built from; this writes the answers.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/dependencies.txt pins REGEX "^[a-z]")

# One line of the table of BuildInfo::dependencies.
function(tessera_build_info_row name version origin)
  string(APPEND rows "      {\"${name}\", \"${version}\", \"${origin}\"},\n")
  set(rows "${rows}" PARENT_SCOPE)
endfunction()

function(tessera_build_info module)
  set(rows "")
  foreach(library IN ITEMS MPICH HDF5 TOMLPLUSPLUS MUPARSER ZLIB XXHASH HWLOC)
    string(TOLOWER ${library} name)
    tessera_build_info_row(${name} "${${library}_VERSION}" "system")
  endforeach()
  tessera_build_info_row(nlohmann_json "${nlohmann_json_VERSION}" "system")
  tessera_build_info_row(cli11 "${CLI11_VERSION}" "system")
  foreach(pin IN LISTS pins)
    string(REGEX REPLACE " +" ";" fields "${pin}")
    list(GET fields 0 name)
    list(GET fields 1 version)
    list(GET fields 2 sha256)
    if(name STREQUAL "kokkos" AND TESSERA_KOKKOS_VERSION)
      tessera_build_info_row(${name} ${version} "sha256:${sha256}")
    elseif(name STREQUAL "kokkos")
      tessera_build_info_row(${name} "" "not in this build")
    endif()
  endforeach()

  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" compileFlags)
  if(TESSERA_SANITIZE)
    string(APPEND compileFlags " -fsanitize=${TESSERA_SANITIZE}")
  endif()
  if(TESSERA_NATIVE)
    string(APPEND compileFlags " -march=native")
  endif()
  if(TESSERA_CHECKED_DEFAULT)
    set(checkedByDefault true)
  else()
    set(checkedByDefault false)
  endif()
  set(generated ${PROJECT_BINARY_DIR}/generated)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/build_info.cpp.in ${generated}/build_info.cpp @ONLY)

  # The commit can change without a configure: it is asked for at every build, and written only when it differs.
  add_custom_target(tessera_revision
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated}/revision.inc -DSOURCE=${PROJECT_SOURCE_DIR}
            -P ${PROJECT_SOURCE_DIR}/cmake/write_revision.cmake
    BYPRODUCTS ${generated}/revision.inc VERBATIM)
  target_sources(tessera_${module} PRIVATE ${generated}/build_info.cpp)
  add_dependencies(tessera_${module} tessera_revision)
endfunction()
