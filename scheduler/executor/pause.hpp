#pragma once

namespace tessera::detail {

/// Tells the processor that this thread waits for another one.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace tessera::detail
