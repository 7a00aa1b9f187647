#pragma once

namespace tessera::detail {

/// From now on the calling thread runs on this core alone (number of the operating system). Throws
/// InternalError where the system refuses.
void bindThisThread(int core);

}  // namespace tessera::detail
