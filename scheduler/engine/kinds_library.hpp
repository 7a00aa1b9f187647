#pragma once

#include <cstdint>
#include <string>

#include "scheduler/engine/make_program.hpp"

namespace tessera::engine {

/// What a shared library of kinds hands to whoever loads it.
struct KindsLibrary {
  std::uint64_t layout = 0;  ///< kKindsLayout of the headers that it was compiled with
  const Program* program = nullptr;
};

/// Another number where the library and the engine do not lay out alike what they share. The first part is
/// raised by hand where a change of meaning leaves all sizes as they are.
inline constexpr std::uint64_t kKindsLayout =
    std::uint64_t{1} << 48 | std::uint64_t{sizeof(EngineState)} << 32 | std::uint64_t{sizeof(Program)} << 16 |
    sizeof(KindInfo) << 8 | sizeof(GroupBase);

/// The name of the function by which a library tells its kinds.
inline constexpr const char* kKindsFunction = "tessera_kinds_library";

/// Makes a shared library (`tessera_kinds_library` of CMake) one whose kinds `loadKinds`, and with it C,
/// Fortran and Python, can load. Once in a library, in a source whose name ends in `_kernels.cpp`:
///
///   TESSERA_KINDS_LIBRARY("mine", Axpy, Dot)
#define TESSERA_KINDS_LIBRARY(name, ...)                                                             \
  extern "C" __attribute__((visibility("default"))) const tessera::engine::KindsLibrary*             \
  tessera_kinds_library() {                                                                          \
    static const tessera::engine::Program program = tessera::engine::makeProgram<__VA_ARGS__>(name); \
    static const tessera::engine::KindsLibrary library{tessera::engine::kKindsLayout, &program};     \
    return &library;                                                                                 \
  }

/// The program of a library of kinds, which stays loaded until the process ends. `path` as for dlopen: a name
/// without a slash is looked for where the system's libraries are. Throws UsageError where it cannot be
/// loaded, has no kinds, or was compiled with the headers of another version.
const Program& loadKinds(const std::string& path);

}  // namespace tessera::engine
