#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/transport/loopback_transport.hpp"

namespace tessera {

namespace detail {
class Fiber;
struct RankWait;
}  // namespace detail

/// Numbers that a seed gives, the same everywhere (splitmix64).
class SeededNumbers {
 public:
  explicit SeededNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// 0..bound-1; `bound` is positive.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

/// Several simulated ranks on one thread: one goes on at a time, and a seed says who is next, so that the
/// whole job does the same again under the same seed.
///
///   VirtualSchedule schedule(ranks, seed);
///   LoopbackWorld world(ranks, {.delaySeed = seed, .whenBlocked = [&] { schedule.pass(); }});
///   runRanks(world, schedule, [&](Transport& t) {
///     const auto executor = makeVirtualExecutor(schedule, t.rank());
///     ...
///   });
///
/// A rank holds no lock where it may pass.
class VirtualSchedule {
 public:
  /// `stallAfter`: as many passes in a row without any rank making progress are taken for a stall; the
  /// default is far more than the longest delay of a message takes.
  VirtualSchedule(int ranks, std::uint64_t seed, std::int64_t stallAfter = 200'000);
  ~VirtualSchedule();
  VirtualSchedule(const VirtualSchedule&) = delete;
  VirtualSchedule& operator=(const VirtualSchedule&) = delete;

  /// Runs `body(rank)` for each rank until all have returned. `body` throws nothing.
  void run(const std::function<void(int rank)>& body);

  /// What a rank tells on a page about a stall: who it waits for, as a list and as text.
  using Tell = std::function<std::string(std::vector<detail::RankWait>& waits)>;
  /// While it lives, `rank` has something to tell.
  class Account {
   public:
    Account(VirtualSchedule& schedule, int rank, Tell tell);
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

   private:
    Tell& place_;
  };

  /// Inside `run`, by the rank that runs: another one may go on, and this one later. Throws InternalError
  /// where none makes progress any more: with what each rank waits for, and a cycle of ranks where there is
  /// one.
  void pass();
  /// The rank that runs has got on.
  void gotOn() { passes_ = 0; }
  std::uint64_t seed() const { return seed_; }

 private:
  std::string stalled() const;
  std::size_t draw() { return present_[numbers_.below(present_.size())]; }

  int ranks_;
  std::uint64_t seed_;
  std::int64_t stallAfter_;
  SeededNumbers numbers_;
  std::vector<std::unique_ptr<detail::Fiber>> fibers_;  ///< by rank
  std::vector<Tell> tells_;                             ///< by rank
  std::vector<std::size_t> present_;                    ///< ranks that have not returned
  std::size_t current_ = 0;                             ///< who runs
  std::size_t next_ = 0;                                ///< and then
  std::int64_t passes_ = 0;                             ///< since a rank got on
};

/// As `runRanks(world, body)`, with the ranks in turn on this thread.
void runRanks(LoopbackWorld& world, VirtualSchedule& schedule, const std::function<void(Transport&)>& body);

}  // namespace tessera
