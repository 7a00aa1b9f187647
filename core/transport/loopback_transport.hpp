#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/text/error.hpp"
#include "core/transport/transport.hpp"

namespace tessera {

namespace detail {
struct LoopbackState;
class LoopbackRank;
}  // namespace detail

/// Another rank of the loopback world has failed or aborted, so this one cannot go on.
struct PeerFailed : InternalError {
  using InternalError::InternalError;
};

/// What `abort(exitCode)` of a loopback rank throws, in place of ending the process.
struct RankAborted : InternalError {
  RankAborted(std::string text, int code) : InternalError(std::move(text)), abortCode(code) {}
  int abortCode;
};

struct LoopbackOptions {
  /// Where set, a matched operation completes only after 0..maxDelay further tests of it, drawn from the
  /// seed, the two ranks, the tag and its number: independent of how threads interleave. One pair of ranks in
  /// four is eight times as slow. What a tag of a pair carries stays in order.
  std::optional<std::uint64_t> delaySeed{};
  int maxDelay = 16;
  /// The largest tag; the default is that of MPICH.
  std::int64_t tagBound = (std::int64_t{1} << 28) - 1;
  /// A send completes only after the receiver has posted its receive: finds what would deadlock with large
  /// messages.
  bool synchronous = false;
  /// Called by a rank that cannot go on, again and again until it can: inside `wait` and inside blocking
  /// collectives, which then do not put the thread to sleep. For schedules that let one rank run at a time.
  std::function<void()> whenBlocked{};
};

/// What one rank has started since the world was made.
struct LoopbackStatistics {
  std::int64_t messages = 0;  ///< sends
  std::int64_t bytes = 0;     ///< in these sends
  std::int64_t reductions = 0;
  std::int64_t mostSendsAtOnce = 0;  ///< started and not seen complete
};

/// Ranks inside one process, for tests; each has its transport.
///
///   LoopbackWorld world(4, {.delaySeed = 7});
///   runRanks(world, [](Transport& t) { ...  t.wait(t.send(...)); ... });
///
/// Stricter than MPI, so that mistakes show: the bytes of a pending send must not change, a receive buffer is
/// filled with 0xff (NaN) until the message is in it and must not be touched meanwhile; each is an
/// InternalError. Memory of a rank is touched by its own calls only.
/// One thread may drive several ranks in turn as long as it uses no blocking collective.
class LoopbackWorld {
 public:
  explicit LoopbackWorld(int ranks, LoopbackOptions options = {});
  ~LoopbackWorld();
  LoopbackWorld(const LoopbackWorld&) = delete;
  LoopbackWorld& operator=(const LoopbackWorld&) = delete;

  int size() const;
  /// Lives as long as the world.
  Transport& transport(int rank);
  LoopbackStatistics statistics(int rank) const;
  /// Requests not seen complete, plus messages sent and not received. Zero at the end of a step.
  std::int64_t pending() const;
  /// One line for each message sent and not received and each receive without its message; empty where none.
  std::string describePending() const;

  /// `rank` is lost: every next call of the others throws PeerFailed. The first failure counts.
  void fail(int rank, std::string_view why);
  /// `rank` will make no further call; a rank that waits for it gets an InternalError.
  void end(int rank);
  /// Takes back every `end`, for the next round on the same world.
  void startAgain();

 private:
  std::unique_ptr<detail::LoopbackState> state_;
  std::vector<std::unique_ptr<detail::LoopbackRank>> ranks_;
};

/// Calls `one(rank)` once for every rank below `ranks`, such that each can wait for the others; returns when
/// all have returned.
using RankLauncher = std::function<void(int ranks, const std::function<void(int rank)>& one)>;
/// Each rank in a thread of its own.
void launchThreads(int ranks, const std::function<void(int rank)>& one);

/// Runs `body` once a rank. Rethrows the first failure in rank order that is not just the echo of another
/// rank's. Where all succeed but operations are pending: InternalError.
void runRanks(LoopbackWorld& world, const std::function<void(Transport&)>& body,
              const RankLauncher& launch = launchThreads);

}  // namespace tessera
