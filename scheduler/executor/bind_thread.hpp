#pragma once

namespace tessera::detail {

/// From now on the calling thread runs on this core alone (number of the operating system). False where the
/// system refuses; the thread then goes on where it may.
bool bindThisThread(int core);

}  // namespace tessera::detail
