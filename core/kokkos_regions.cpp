#include "core/kokkos_regions.hpp"

#include <cstdlib>

#if defined(TESSERA_HAVE_KOKKOS)
#include <Kokkos_Core.hpp>
#endif

namespace tessera {

namespace {

bool toolRequested() {
  const char* libraries = std::getenv("KOKKOS_TOOLS_LIBS");
  return libraries != nullptr && *libraries != '\0';
}

}  // namespace

#if defined(TESSERA_HAVE_KOKKOS)

KernelRegions::KernelRegions() {
  if (!toolRequested()) return;
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

KernelRegions::~KernelRegions() {
  if (ownsKokkos_) Kokkos::finalize();
}

std::uint64_t KernelRegions::begin(const std::string& name, std::uint32_t worker) {
  const std::lock_guard lock(toolMutex_);
  std::uint64_t id = 0;
  // Kernel events carry an id, so that kernels of several workers may overlap; regions are one stack a
  // process.
  Kokkos::Tools::beginParallelFor(name, worker, &id);
  return id;
}

void KernelRegions::end(std::uint64_t id) {
  const std::lock_guard lock(toolMutex_);
  Kokkos::Tools::endParallelFor(id);
}

#else

KernelRegions::KernelRegions() {
  if (toolRequested()) {
    notice_ =
        "KOKKOS_TOOLS_LIBS is set, but this build has no Kokkos, so no tool sees the tasks; "
        "./tessera setup fetches it and builds again";
  }
}

KernelRegions::~KernelRegions() = default;

std::uint64_t KernelRegions::begin(const std::string&, std::uint32_t) { return 0; }

void KernelRegions::end(std::uint64_t) {}

#endif

}  // namespace tessera
