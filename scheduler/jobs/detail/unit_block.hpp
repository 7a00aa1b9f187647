#pragma once

#include "scheduler/jobs/detail/unit_queue.hpp"

namespace tessera::jobs::detail {

template <class T>
using BlockAtomic = engine::ScopedAtomic<T, engine::Scope::Block>;

/// What the lanes of a block tell one another.
struct BlockWords {
  BlockAtomic<std::int32_t> waiting{0};  ///< units in the block's own queue
  BlockAtomic<std::int32_t> pushed{0};   ///< in this round
  BlockAtomic<std::int32_t> kept{0};     ///< of those, in the block's own queue
  BlockAtomic<std::int32_t> ended{0};
  BlockAtomic<std::int64_t> calls{0};
  std::int32_t taken = 0;
  std::int32_t claimed = 0;
  std::int32_t begun = 0;
  std::int32_t spilt = 0;
  bool isOver = false;
  std::uint64_t ticket = 0;
  std::int64_t first = 0;
  Tally tally;
  std::int64_t rounds = 0;
};

/// The lanes of a block on the host: one thread that takes their parts in turn.
struct HostLanes {
  std::int32_t lanes = 1;
  template <class Work>
  TESSERA_KERNEL void each(const Work& work) const {
    for (std::int32_t lane = 0; lane < lanes; ++lane) work(lane);
  }
};

/// The form ConsumerProducer in one block of lanes. A round: the block's own queue is filled from the queue
/// of all blocks and from the units of the execution space until each lane has one; each lane takes one from
/// its end, so that all lanes are busy; the lanes call the body; units that go on, and new ones, go back to
/// the own queue, or to the shared one where that is full. While the shared queue is empty, a block that has
/// plenty gives some away.
///
/// The end: `TaskWords::open` counts units that have not ended. A block tells what it has kept and ended at
/// the end of each round, before it looks whether anything is open, and a unit is counted before it goes to
/// the shared queue. So a block that finds nothing in its own queue and nothing open can end: what others
/// still hold they will end themselves.
template <JobBody Body, class Lanes>
class UnitBlock {
 public:
  using Unit = typename Body::Unit;
  static constexpr std::int32_t kQueueOfLane = 2;  ///< places of the own queue for each lane

  static constexpr std::int64_t bytes(std::int32_t lanes) {
    return kWordsBytes + (kQueueOfLane + 1) * std::int64_t{lanes} * static_cast<std::int64_t>(sizeof(Unit));
  }

  TESSERA_KERNEL UnitBlock(const Body& body, const TaskInput& input, std::byte* memory, const Lanes& lanes)
      : body_(body),
        input_(input),
        lanes_(lanes),
        shared_(input),
        words_(*reinterpret_cast<BlockWords*>(memory)),
        own_(reinterpret_cast<Unit*>(memory + kWordsBytes)),
        round_(own_ + kQueueOfLane * input.lanes) {}

  /// False: there is nothing left to do for this block.
  TESSERA_KERNEL bool runRound() {
    lanes_.each([&](std::int32_t lane) {
      if (lane == 0) claim();
    });
    lanes_.each([&](std::int32_t lane) { fill(lane); });
    lanes_.each([&](std::int32_t lane) {
      if (lane == 0) decide();
    });
    if (words_.isOver) return false;
    lanes_.each([&](std::int32_t lane) {
      if (lane < words_.taken) round_[lane] = own_[words_.waiting.load(std::memory_order_relaxed) + lane];
    });
    lanes_.each([&](std::int32_t lane) {
      if (lane < words_.taken) advance(round_[lane]);
    });
    lanes_.each([&](std::int32_t lane) {
      if (lane == 0) account();
    });
    lanes_.each([&](std::int32_t lane) {
      if (lane < words_.spilt) shared_.push(own_[words_.waiting.load(std::memory_order_relaxed) + lane]);
    });
    return true;
  }

  /// For the body: adds a unit.
  TESSERA_KERNEL bool push(const Unit& unit) {
    words_.pushed.fetch_add(1, std::memory_order_relaxed);
    const std::int32_t at = words_.waiting.fetch_add(1, std::memory_order_relaxed);
    if (at < kQueueOfLane * input_.lanes) {
      own_[at] = unit;
      words_.kept.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    input_.words->open.fetch_add(1, std::memory_order_relaxed);
    return shared_.push(unit);
  }

 private:
  static constexpr std::int64_t kWordsBytes = 128;
  static_assert(sizeof(BlockWords) <= kWordsBytes);

  TESSERA_KERNEL void claim() {
    const std::int32_t wanted = input_.lanes - words_.waiting.load(std::memory_order_relaxed);
    words_.claimed = words_.begun = 0;
    if (wanted <= 0) return;
    const engine::Claim claim = shared_.queue.tryClaim(wanted, 1);
    words_.ticket = claim.first;
    words_.claimed = static_cast<std::int32_t>(claim.count);
    const std::int64_t rest = wanted - claim.count;
    const std::int64_t count = input_.unitCount();
    if (rest == 0 || input_.words->next.load(std::memory_order_relaxed) >= count) return;
    words_.first = input_.words->next.fetch_add(rest, std::memory_order_relaxed);
    const std::int64_t left = count - words_.first;
    words_.begun = static_cast<std::int32_t>(left < 0 ? 0 : left < rest ? left : rest);
  }

  TESSERA_KERNEL void fill(std::int32_t lane) {
    const std::int32_t at = words_.waiting.load(std::memory_order_relaxed) + lane;
    if (lane < words_.claimed) {
      own_[at] = shared_.take(words_.ticket + static_cast<std::uint64_t>(lane));
    } else if (lane < words_.claimed + words_.begun) {
      own_[at] = body_.first(input_.unitAt(words_.first + lane - words_.claimed));
    }
  }

  TESSERA_KERNEL void decide() {
    const std::int32_t waiting =
        words_.waiting.load(std::memory_order_relaxed) + words_.claimed + words_.begun;
    words_.taken = waiting < input_.lanes ? waiting : input_.lanes;
    words_.waiting.store(waiting - words_.taken, std::memory_order_relaxed);
    const bool nothing = words_.taken == 0 && input_.words->open.load(std::memory_order_acquire) <= 0;
    words_.isOver = nothing || hasFault(*input_.words);
    if (words_.isOver) words_.tally.tell(input_);
    if (words_.taken == 0) pauseBriefly();
  }

  TESSERA_KERNEL void advance(const Unit& given) {
    Unit unit = given;
    UnitEnd end = UnitEnd::GoOn;
    std::int32_t calls = 0;
    for (; calls < input_.grain && end == UnitEnd::GoOn; ++calls) end = body_.advance(unit, *this);
    words_.calls.fetch_add(calls, std::memory_order_relaxed);
    if (end == UnitEnd::Done) {
      words_.ended.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const std::int32_t at = words_.waiting.fetch_add(1, std::memory_order_relaxed);
    if (at < kQueueOfLane * input_.lanes) {
      own_[at] = unit;
    } else {
      shared_.push(unit);
    }
  }

  TESSERA_KERNEL void account() {
    const std::int32_t places = kQueueOfLane * input_.lanes;
    std::int32_t waiting = words_.waiting.load(std::memory_order_relaxed);
    waiting = waiting < places ? waiting : places;
    words_.tally.calls += words_.calls.load(std::memory_order_relaxed);
    words_.tally.pushed += words_.pushed.load(std::memory_order_relaxed);
    const std::int32_t ended = words_.ended.load(std::memory_order_relaxed);
    words_.tally.ended += ended;
    input_.words->open.fetch_add(words_.kept.load(std::memory_order_relaxed) - ended,
                                 std::memory_order_acq_rel);
    words_.calls.store(0, std::memory_order_relaxed);
    words_.pushed.store(0, std::memory_order_relaxed);
    words_.kept.store(0, std::memory_order_relaxed);
    words_.ended.store(0, std::memory_order_relaxed);
    const bool plenty = input_.blocks > 1 && waiting > input_.lanes && shared_.isEmpty();
    words_.spilt = plenty ? (waiting - input_.lanes) : 0;
    words_.waiting.store(waiting - words_.spilt, std::memory_order_relaxed);
    if (++words_.rounds % 64 != 0) return;
    if (words_.rounds > input_.limits.calls) noteFault(*input_.words, TaskFault::EndlessUnit);
    words_.tally.tell(input_);
  }

  const Body& body_;
  const TaskInput& input_;
  Lanes lanes_;
  SharedUnits<Unit> shared_;
  BlockWords& words_;
  Unit* own_;
  Unit* round_;
};

}  // namespace tessera::jobs::detail
