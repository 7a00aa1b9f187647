#pragma once

namespace tessera {
namespace detail {

#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

template <class Work>
[[gnu::flatten]] void runAsBuilt(Work work) {
  work();
}

/// Without fused multiply-adds, which would round once instead of twice.
template <class Work>
[[gnu::flatten, gnu::target("avx2")]] void runWide(Work work) {
  work();
}

template <class Work>
void runWidest(Work work) {
  // Reads a variable of the compiler's own library: no system call.
  if (__builtin_cpu_supports("avx2")) {
    runWide(work);
  } else {
    runAsBuilt(work);
  }
}

#else

/// Under a sanitizer inlining everything takes minutes to compile.
template <class Work>
void runWidest(Work work) {
  work();
}

#endif

}  // namespace detail

/// Calls `work()` with the widest vectors that this processor has and we know of. A program built for any
/// x86-64 has vectors of two doubles, processors since 2013 have such of four, so the code is compiled for
/// both and chosen when it runs. The same bits either way: nothing is fused or re-ordered. All that `work`
/// calls is inlined (flatten), because a call left in a loop would end vectorisation. `work` is copied, so
/// that the compiler knows that no store in the loop changes what it has captured: capture by value what is
/// read often.
template <class Work>
void withWideVectors(const Work& work) {
  detail::runWidest(work);
}

}  // namespace tessera
