#include "core/transport/detail/message_check.hpp"

#include "core/text/error.hpp"

namespace tessera::detail {

void checkAddress(int peer, std::int64_t tag, int size, std::int64_t tagBound) {
  if (peer < 0 || peer >= size) {
    throw InternalError(Message("a message goes to or comes from a rank that does not exist")
                            .line("peer ", peer, " of ", size, " ranks, tag ", tag)
                            .line("fix  compile the graph for the number of ranks of this job")
                            .text());
  }
  if (tag < 0 || tag > tagBound) {
    throw InternalError(Message("a message tag is outside the range of the transport")
                            .line("tag  ", tag, " with peer rank ", peer, "; allowed are 0..", tagBound)
                            .line("fix  use fewer messages per peer: larger patches or more ranks")
                            .text());
  }
}

void checkRoot(int root, int size) {
  if (root >= 0 && root < size) return;
  throw InternalError(Message("the root of a collective is a rank that does not exist")
                          .line("root ", root, " of ", size, " ranks")
                          .line("fix  name one of the ranks 0..", size - 1)
                          .text());
}

namespace {

[[noreturn]] void sizesDifferInWords(const MessageRoute& route, const std::string& sent,
                                     std::int64_t expectedBytes) {
  throw InternalError(Message("a message has another size than its receiver expects")
                          .line("way  from rank ", route.from, " to rank ", route.to, ", tag ", route.tag)
                          .line("sent ", sent, " bytes, expected ", expectedBytes, " bytes")
                          .line("fix  compile the same hierarchy and step plan on every rank")
                          .text());
}

}  // namespace

void messageTooLong(const MessageRoute& route, std::int64_t expectedBytes) {
  sizesDifferInWords(route, "more than " + std::to_string(expectedBytes), expectedBytes);
}

void sizesDiffer(const MessageRoute& route, std::int64_t sentBytes, std::int64_t expectedBytes) {
  sizesDifferInWords(route, std::to_string(sentBytes), expectedBytes);
}

}  // namespace tessera::detail
