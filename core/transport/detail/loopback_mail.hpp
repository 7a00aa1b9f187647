#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/transport/detail/message_check.hpp"

namespace tessera::detail {

/// A message under way: its own copy of the bytes, so that no rank ever reads another's memory.
struct Letter {
  MessageRoute route;
  std::int64_t number = 0;  ///< among those of its route
  std::vector<std::byte> bytes;
  bool matched = false;
};

/// A posted receive; `letter` is set once its message has been sent.
struct Posted {
  MessageRoute route;
  std::int64_t number = 0;
  std::int64_t expectedBytes = 0;
  std::shared_ptr<Letter> letter;
};

/// Joins the n-th message of a route (from, to, tag) to the n-th receive of the same route, as MPI does.
/// Not thread-safe: the world's mutex is held around every call.
class LoopbackMail {
 public:
  std::shared_ptr<Letter> send(const MessageRoute& route, std::span<const std::byte> bytes);
  std::shared_ptr<Posted> receive(const MessageRoute& route, std::int64_t expectedBytes);
  /// The receiver has taken a letter out.
  void delivered() { --undelivered_; }
  std::int64_t undelivered() const { return undelivered_; }
  /// One line each for unmatched letters and receives.
  std::string describeUnmatched() const;

 private:
  struct Channel {
    std::deque<std::shared_ptr<Letter>> letters;  // sent, not asked for
    std::deque<std::shared_ptr<Posted>> posted;   // asked for, not sent
    std::int64_t sent = 0;
    std::int64_t asked = 0;
  };
  struct Before {
    bool operator()(const MessageRoute& a, const MessageRoute& b) const;
  };
  std::map<MessageRoute, Channel, Before> channels_;
  std::int64_t undelivered_ = 0;
};

}  // namespace tessera::detail
