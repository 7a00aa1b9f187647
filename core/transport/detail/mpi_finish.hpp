#pragma once

#include <string_view>

namespace tessera::detail {

/// Waits for the end of a request, given as MPI_Request_c2f says it; `what` is for the error.
///
/// Blocking calls go through this, because those of MPICH spin: with more ranks than cores a rank that waits
/// keeps the one it waits for from running, and a barrier of 8 ranks on 2 cores takes 100 times as long.
void finishMpi(int request, std::string_view what);

}  // namespace tessera::detail
