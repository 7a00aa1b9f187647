#include "core/known_kernels.hpp"

#include <mutex>

namespace tessera {
namespace {

/// Kernels are added before main, in no order: the first makes the list.
struct Known {
  std::mutex mutex;
  std::vector<KernelLoader> loaders;
};

Known& known() {
  static auto& all = *new Known;  // libraries may be unloaded after the end of static objects
  return all;
}

}  // namespace

void addKnownKernel(KernelLoader load) {
  const std::lock_guard<std::mutex> lock(known().mutex);
  known().loaders.push_back(load);
}

std::vector<KernelLoader> knownKernels() {
  const std::lock_guard<std::mutex> lock(known().mutex);
  return known().loaders;
}

}  // namespace tessera
