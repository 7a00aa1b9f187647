# Every library from outside, found once. MPI is MPICH, always by its unambiguous names.
# This file is also installed: outside programs find the same libraries through it (TesseraConfig.cmake).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(MPICH REQUIRED IMPORTED_TARGET mpich)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# Other packages can flip what "mpi" means on a machine; a program built on one library and started by the
# other's mpiexec runs n times as one rank and says nothing.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::MPICH)
check_cxx_source_compiles("
  #include <mpi.h>
  #ifndef MPICH_VERSION
  #error not MPICH
  #endif
  int main() { return 0; }" TESSERA_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT TESSERA_MPI_IS_MPICH)
  message(FATAL_ERROR "Tessera needs MPICH, but the mpi.h that pkg-config names for 'mpich' "
                      "(${MPICH_INCLUDE_DIRS}) is not MPICH's. Install libmpich-dev and mpich, or point "
                      "PKG_CONFIG_PATH at the folder of MPICH's mpich.pc.")
endif()
