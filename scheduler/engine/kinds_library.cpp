#include "scheduler/engine/kinds_library.hpp"

#include <dlfcn.h>

#include "core/text/error.hpp"

namespace tessera::engine {

const Program& loadKinds(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw UsageError(
        Message("the library of kinds " + path + " cannot be loaded")
            .line("reason  ", reason != nullptr ? reason : "unknown")
            .line("fix     name a file with its folder; make it by tessera_kinds_library of CMake")
            .text());
  }
  using Tell = const KindsLibrary* (*)();
  const auto tell = reinterpret_cast<Tell>(dlsym(library, kKindsFunction));
  if (tell == nullptr) {
    throw UsageError(
        Message("the library " + path + " has no kinds of tasks")
            .line("fix     write TESSERA_KINDS_LIBRARY(\"name\", Kind, ...) in one of its sources")
            .text());
  }
  const KindsLibrary& kinds = *tell();
  if (kinds.layout != kKindsLayout) {
    throw UsageError(Message("the library of kinds " + path + " belongs to another version of Tessera")
                         .line("fix     compile it again with the headers of this one")
                         .text());
  }
  return *kinds.program;
}

}  // namespace tessera::engine
