#pragma once

// Counts calls of operator new and of pthread_mutex_lock in this program, while asked to. It defines both, so
// one source of a test program includes it. The sanitizers bring their own, so there is nothing in their
// builds: put the tests between #if defined(TESSERA_COUNTS_CALLS) and #endif.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define TESSERA_COUNTS_CALLS
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#undef TESSERA_COUNTS_CALLS
#endif
#endif
#endif
#if defined(TESSERA_COUNTS_CALLS)
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> locks{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static std::atomic<Lock> real{nullptr};
  Lock lock = real.load(std::memory_order_relaxed);
  if (lock == nullptr) {
    lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    real.store(lock, std::memory_order_relaxed);
  }
  if (counting.load(std::memory_order_relaxed)) locks.fetch_add(1, std::memory_order_relaxed);
  return lock(mutex);
}

namespace tessera::test {

struct Counts {
  std::int64_t allocations = 0;
  std::int64_t locks = 0;
};

template <class Work>
Counts countsOf(const Work& work) {
  allocations.store(0);
  locks.store(0);
  counting.store(true);
  work();
  counting.store(false);
  return {allocations.load(), locks.load()};
}

/// A rank that needs no memory and no lock to be alone: whatever it starts is complete at once.
class LoneTransport : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::int64_t tagBound() const override { return 32767; }
  Request send(int, std::int64_t, std::span<const std::byte>) override { return 0; }
  Request receive(int, std::int64_t, std::span<std::byte>) override { return 0; }
  Request allReduceMin(std::span<double>) override { return 0; }
  Request allReduceMax(std::span<double>) override { return 0; }
  Request allReduceSum(std::span<std::int64_t>) override { return 0; }
  bool test(Request) override { return true; }
  void barrier() override {}
  void broadcast(std::string&, int) override {}
  std::vector<std::string> gather(std::string_view bytes, int) override { return {std::string(bytes)}; }
  [[noreturn]] void abort(int exitCode) override { std::exit(exitCode); }
};

}  // namespace tessera::test
#endif
