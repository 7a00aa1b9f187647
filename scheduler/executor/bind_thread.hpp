#pragma once

#include <cstddef>
#include <exception>

namespace tessera::detail {

/// From now on the calling thread runs on this core alone (number of the operating system). False where the
/// system refuses; the thread then goes on where it may.
bool bindThisThread(int core);

/// What is thrown where the system refuses a thread, after `there` of `wanted`.
[[noreturn]] void threadNotStarted(std::size_t there, int wanted, const std::exception& why);

}  // namespace tessera::detail
