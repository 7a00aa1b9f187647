#include "core/error.hpp"
#include "scheduler/engine/detail/engine_side.hpp"

#if !defined(TESSERA_HAVE_CUDA)
namespace tessera::engine {

std::unique_ptr<EngineSide> makeCudaSide(const Program&, const EngineOptions&) {
  throw UsageError(
      "this build of Tessera has no CUDA, so an engine cannot be on a GPU; build the preset cuda, or use the "
      "form "
      "Threads");
}

}  // namespace tessera::engine
#endif
