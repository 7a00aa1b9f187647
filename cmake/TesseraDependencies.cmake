# Every library from outside, found once. MPI is MPICH, always by its unambiguous names.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(MPICH REQUIRED IMPORTED_TARGET mpich)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(MUPARSER REQUIRED IMPORTED_TARGET muparser)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
