#pragma once

#include <cstdint>

namespace tessera::bench {

/// A task as a runtime sees it: code that it cannot look into, as where a component brings it.
struct TaskCall {
  void (*function)(void* body, std::int32_t node) = nullptr;
  void* body = nullptr;
  void operator()(std::int32_t node) const { function(body, node); }
};

}  // namespace tessera::bench
