# What `cmake --install` leaves: the program, the decks, and a package for components that are kept outside:
#   find_package(Tessera REQUIRED)
#   tessera_component(my_component SOURCES my_component.cpp my_component_kernels.cpp)
#   target_link_libraries(my_program PRIVATE my_component Tessera::command_line)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(modules GLOBAL PROPERTY TESSERA_MODULES)
get_property(folders GLOBAL PROPERTY TESSERA_MODULE_FOLDERS)
list(TRANSFORM modules PREPEND tessera_ OUTPUT_VARIABLE targets)
list(APPEND targets tessera_simulation tessera_ensemble tessera_job_programs tessera_command_line)
set_target_properties(tessera_abi PROPERTIES EXPORT_NAME abi)
install(TARGETS tessera_abi ${targets} EXPORT TesseraTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The headers keep their folders, so that `#include "core/geometry/box.hpp"` means the same inside and outside.
foreach(folder IN LISTS folders ITEMS tools/simulation tools/ensemble tools/jobs tools/tessera)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION include/tessera/${folder}
          FILES_MATCHING PATTERN "*.hpp")
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package})
configure_package_config_file(cmake/TesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/TesseraConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
              cmake/TesseraDependencies.cmake cmake/TesseraComponent.cmake cmake/TesseraCudaLanguage.cmake
        DESTINATION ${package})

if(TARGET tessera)
  install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/inputs)
  install(DIRECTORY inputs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/inputs)
endif()
# What `tessera plot` and its kind run; needs nothing built.
install(DIRECTORY tools/python/tessera DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/python
        PATTERN "__pycache__" EXCLUDE)
