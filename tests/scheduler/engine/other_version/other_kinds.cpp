// A library of kinds as another version of Tessera would have made it.
#include "scheduler/engine/kinds_library.hpp"

extern "C" const tessera::engine::KindsLibrary* tessera_kinds_library() {
  static const tessera::engine::KindsLibrary library{tessera::engine::kKindsLayout + 1, nullptr};
  return &library;
}
