#pragma once

#include <cstdint>
#include <optional>

#include "core/transport/detail/message_check.hpp"

namespace tessera::detail {

/// How many more tests an operation of the loopback world takes after it could have completed: a pure
/// function of the seed and of what the operation is, so that a seed replays whatever the threads do.
class LoopbackDelay {
 public:
  LoopbackDelay(std::optional<std::uint64_t> seed, int maxDelay) : seed_(seed), maxDelay_(maxDelay) {}

  int ofSend(const MessageRoute& route, std::int64_t number) const { return draw(route, number, 1); }
  int ofReceive(const MessageRoute& route, std::int64_t number) const { return draw(route, number, 2); }
  int ofReduction(int rank, std::int64_t number) const { return draw({rank, rank, -1}, number, 3); }

 private:
  static std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

  int draw(const MessageRoute& route, std::int64_t number, std::uint64_t kind) const {
    if (!seed_) return 0;
    const auto pair = (static_cast<std::uint64_t>(route.from) << 32) | static_cast<std::uint32_t>(route.to);
    const std::uint64_t link = mix(mix(*seed_) ^ pair);
    const std::uint64_t word = mix(mix(mix(link ^ kind) ^ static_cast<std::uint64_t>(route.tag)) ^
                                   static_cast<std::uint64_t>(number));
    const auto delay = static_cast<int>(word % (static_cast<std::uint64_t>(maxDelay_) + 1));
    const bool slowLink = link % 4 == 0;
    return slowLink ? 8 * delay : delay;
  }

  std::optional<std::uint64_t> seed_;
  int maxDelay_;
};

}  // namespace tessera::detail
