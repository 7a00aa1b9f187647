# NVTX: ranges of tasks and messages for NVIDIA's profilers. Headers alone, which come with the CUDA toolkit; only
# core/profile/nvtx_annotations.cpp sees them.
set(TESSERA_NVTX "AUTO" CACHE STRING "Use NVTX: AUTO (where its headers are found), ON (an error where not), OFF")
set_property(CACHE TESSERA_NVTX PROPERTY STRINGS AUTO ON OFF)
if(NOT TESSERA_NVTX STREQUAL "OFF")
  find_path(TESSERA_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ENV CUDA_PATH ENV CUDA_HOME
            PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES include DOC "The folder that holds nvtx3/nvToolsExt.h")
  if(TESSERA_NVTX_INCLUDE)
    message(STATUS "NVTX: ${TESSERA_NVTX_INCLUDE}")
  elseif(TESSERA_NVTX STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_NVTX=ON, but nvtx3/nvToolsExt.h is not found. "
                        "Name the folder that holds it in TESSERA_NVTX_INCLUDE.")
  else()
    message(STATUS "nvtx3/nvToolsExt.h is not here: this build has no ranges for NVIDIA's profilers; they need the "
                   "CUDA toolkit or TESSERA_NVTX_INCLUDE")
  endif()
endif()

# tessera_nvtx(target): gives the target's own sources TESSERA_HAVE_NVTX and the headers, where they are there.
function(tessera_nvtx target)
  if(TESSERA_NVTX_INCLUDE AND NOT TESSERA_NVTX STREQUAL "OFF")
    target_compile_definitions(${target} PRIVATE TESSERA_HAVE_NVTX)
    target_include_directories(${target} SYSTEM PRIVATE ${TESSERA_NVTX_INCLUDE})
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  endif()
endfunction()
