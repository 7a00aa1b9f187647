#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tessera {

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

/// Lets one of several simulated ranks run at a time, each on its own thread, and draws from a seed who is
/// next: so the whole job does the same again under the same seed.
///
///   VirtualSchedule schedule(ranks, seed);
///   LoopbackWorld world(ranks, {.delaySeed = seed, .whenBlocked = [&] { schedule.pass(); }});
///   runRanks(world, [&](Transport& t) {
///     const VirtualSchedule::Turn turn(schedule, t.rank());
///     const auto executor = makeVirtualExecutor(schedule, t.rank());
///     ...
///   });
class VirtualSchedule {
 public:
  /// `stallAfter`: as many passes in a row without any rank getting on are taken for a stall; the default is
  /// far more than the longest delay of a message takes.
  VirtualSchedule(int ranks, std::uint64_t seed, std::int64_t stallAfter = 200'000);

  /// The life of a rank: from its first turn, which comes when all ranks have one of these, to its last.
  class Turn {
   public:
    Turn(VirtualSchedule& schedule, int rank) : schedule_(schedule), rank_(rank) { schedule_.enter(rank_); }
    ~Turn() { schedule_.leave(rank_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    VirtualSchedule& schedule_;
    int rank_;
  };

  /// By the rank whose turn it is: another one may go on, and this one later. Throws InternalError where none
  /// gets on any more.
  void pass();
  /// By the rank whose turn it is: it has got on.
  void gotOn();
  std::uint64_t seed() const { return seed_; }

 private:
  void enter(int rank);
  void leave(int rank);
  void chooseNext();

  std::mutex mutex_;
  std::vector<std::condition_variable> turns_;  ///< by rank
  std::uint64_t seed_;
  std::int64_t stallAfter_;
  SeededNumbers numbers_;
  std::vector<int> present_;  ///< ranks with a Turn
  int expected_;              ///< ranks that have yet to come
  int current_ = -1;          ///< whose turn it is
  std::int64_t passes_ = 0;   ///< since a rank got on
};

}  // namespace tessera
