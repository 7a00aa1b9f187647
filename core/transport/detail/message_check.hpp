#pragma once

#include <cstdint>

namespace tessera::detail {

/// The way of one message, as errors name it; sizes are in bytes.
struct MessageRoute {
  int from = 0;
  int to = 0;
  std::int64_t tag = 0;
};

/// Throws InternalError where `peer` is no rank of a job of `size` ranks or `tag` is outside 0..tagBound.
void checkAddress(int peer, std::int64_t tag, int size, std::int64_t tagBound);
/// Throws InternalError where `root` is no rank of a job of `size` ranks.
void checkRoot(int root, int size);
/// Throws InternalError for a message longer than its receiver expects, where its length is not known.
[[noreturn]] void messageTooLong(const MessageRoute& route, std::int64_t expectedBytes);
/// Throws InternalError naming both sizes.
[[noreturn]] void sizesDiffer(const MessageRoute& route, std::int64_t sentBytes, std::int64_t expectedBytes);

}  // namespace tessera::detail
