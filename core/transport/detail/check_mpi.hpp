#pragma once

#include <string_view>

namespace tessera::detail {

/// Throws InternalError: `what` was being done (with peer, tag and bytes where there are any), MPI's own
/// text.
[[noreturn]] void mpiFailed(int code, std::string_view what);

/// Whether the code says that a message was longer than its receiver expected. The text of MPICH 4.0 about
/// this has no sizes, or the wrong way round.
bool isTruncation(int code);

}  // namespace tessera::detail

/// Checks the result of an MPI call. `what` says what was being done, for example "sending to rank 3, tag 7,
/// 64 bytes"; it is evaluated only where the call fails. 0 is MPI_SUCCESS by the MPI standard.
#define TESSERA_CHECK_MPI(call, what)                           \
  do {                                                          \
    if (const int tesseraMpiCode = (call); tesseraMpiCode != 0) \
      ::tessera::detail::mpiFailed(tesseraMpiCode, what);       \
  } while (false)
