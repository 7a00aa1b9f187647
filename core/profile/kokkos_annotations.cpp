#include "core/profile/kokkos_annotations.hpp"

#include <cstdlib>

#if defined(TESSERA_HAVE_KOKKOS)
#include <Kokkos_Core.hpp>
#endif

#if defined(KOKKOS_ENABLE_CUDA)
#include <dlfcn.h>

// What Kokkos calls of the driver itself, looked up with the first call. Linked in the common way, a program
// of this build could not even start on a machine without a driver.
namespace {

template <class... Arguments>
CUresult callDriver(const char* name, Arguments... arguments) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = driver == nullptr ? nullptr : dlsym(driver, name);
  if (found == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  return reinterpret_cast<CUresult (*)(Arguments...)>(found)(arguments...);
}

}  // namespace

CUresult cuCtxGetDevice(CUdevice* device) { return callDriver("cuCtxGetDevice", device); }
CUresult cuCtxPushCurrent_v2(CUcontext context) { return callDriver("cuCtxPushCurrent_v2", context); }
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return callDriver("cuStreamGetCtx", stream, context);
}
#endif

namespace tessera {

namespace {

bool kokkosToolRequested() {
  const char* libraries = std::getenv("KOKKOS_TOOLS_LIBS");
  return libraries != nullptr && *libraries != '\0';
}

}  // namespace

#if defined(TESSERA_HAVE_KOKKOS)

KokkosAnnotations::KokkosAnnotations() {
  if (!kokkosToolRequested()) return;
  // Kokkos with CUDA ends the program where it finds no GPU; one for the CPU alone counts -1 of them.
  if (Kokkos::num_devices() == 0) {
    notice_ = "KOKKOS_TOOLS_LIBS is set, but Kokkos of this build needs a GPU, and there is none here";
    return;
  }
  // The whole of Kokkos and not its tools alone: it fences before it calls a tool.
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize();
    ownsKokkos_ = true;
  }
  active_ = Kokkos::Tools::profileLibraryLoaded();
  if (!active_) notice_ = "KOKKOS_TOOLS_LIBS is set, but Kokkos could load no tool from it; check the path";
}

KokkosAnnotations::~KokkosAnnotations() {
  if (ownsKokkos_) Kokkos::finalize();
}

std::uint64_t KokkosAnnotations::begin(const std::string& name, std::uint32_t worker) {
  const std::lock_guard lock(toolMutex_);
  std::uint64_t id = 0;
  // Kernel events carry an id, so that kernels of several workers may overlap; regions are one stack a
  // process.
  Kokkos::Tools::beginParallelFor(name, worker, &id);
  return id;
}

void KokkosAnnotations::end(std::uint64_t id) {
  const std::lock_guard lock(toolMutex_);
  Kokkos::Tools::endParallelFor(id);
}

#else

KokkosAnnotations::KokkosAnnotations() {
  if (kokkosToolRequested()) {
    notice_ =
        "KOKKOS_TOOLS_LIBS is set, but this build has no Kokkos, so no tool sees the tasks; "
        "./tessera setup fetches it and builds again";
  }
}

KokkosAnnotations::~KokkosAnnotations() = default;

std::uint64_t KokkosAnnotations::begin(const std::string&, std::uint32_t) { return 0; }

void KokkosAnnotations::end(std::uint64_t) {}

#endif

}  // namespace tessera
