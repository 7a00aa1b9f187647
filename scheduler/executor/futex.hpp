#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tessera::detail {

/// The kernel's way to sleep on a word. std::atomic::wait would do, but it has no time limit and takes a
/// mutex of the C++ library.
struct Futex {
  /// Returns at once where the word is not `expected`; else when woken, or for no reason.
  static void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected);
  static void waitFor(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::chrono::microseconds limit);
  /// Wakes the one sleeper.
  static void wake(const std::atomic<std::uint32_t>& word);
};

}  // namespace tessera::detail
