#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TESSERA_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TESSERA_SANITIZED
#endif
#endif

namespace tessera {

/// Whether a sanitizer is in the program, which reserves memory beyond any limit and starts late.
#if defined(TESSERA_SANITIZED)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// At the start of the program: opens /dev/null in the place of a standard stream that is closed (a file
/// opened later would take its number, and get what is printed), raises the limits that may be raised, and
/// throws InternalError where one of them is too low for any run, because libraries answer that by a crash.
/// For `run` and `restart` the signals that ask to stop are held back, before any library of the program
/// starts, until somebody is there who listens to them.
void settleProcess(int argumentCount, char** arguments);

/// At its end, where what was asked for is on standard output: throws OutputError where a full disk, or a
/// reader who has gone, has swallowed some of it.
void requirePrinted();

}  // namespace tessera
