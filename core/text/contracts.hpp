#pragma once

#include <string_view>

namespace tessera::detail {

/// Throws InternalError naming the broken contract and its place.
[[noreturn]] void contractBroken(std::string_view kind, std::string_view condition,
                                 std::string_view explanation, const char* file, int line);

}  // namespace tessera::detail

/// The caller's duty; always on. `explanation` is a sentence that says what to do instead.
#define TESSERA_EXPECT(condition, explanation)                                                            \
  do {                                                                                                    \
    if (!(condition))                                                                                     \
      ::tessera::detail::contractBroken("the caller broke a contract", #condition, explanation, __FILE__, \
                                        __LINE__);                                                        \
  } while (false)

/// Our own invariant; checked where TESSERA_ASSERTIONS is set (debug, checked and sanitizer builds).
#if defined(TESSERA_ASSERTIONS)
#define TESSERA_ASSERT(condition)                                                                      \
  do {                                                                                                 \
    if (!(condition))                                                                                  \
      ::tessera::detail::contractBroken("an invariant of Tessera is broken", #condition, "", __FILE__, \
                                        __LINE__);                                                     \
  } while (false)
#else
#define TESSERA_ASSERT(condition) static_cast<void>(0)
#endif
