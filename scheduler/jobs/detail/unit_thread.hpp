#pragma once

#include <cstddef>

#include "scheduler/jobs/detail/unit_queue.hpp"

namespace tessera::jobs::detail {

/// Runs units alone: the forms Regular and Consumer. Units that a body pushes wait on a stack of the thread.
template <JobBody Body>
class UnitThread {
 public:
  using Unit = typename Body::Unit;

  /// Units that a thread has pushed and not run. Apart from the rest of it, which so stays in registers.
  struct Stack {
    static constexpr int kRoom = Body::kPushes == 0 ? 1 : 64;
    alignas(Unit) std::byte bytes[kRoom * sizeof(Unit)];

    TESSERA_KERNEL Unit& operator[](int n) { return reinterpret_cast<Unit*>(bytes)[n]; }
  };

  TESSERA_KERNEL UnitThread(const Body& body, const TaskInput& input, Stack& stack)
      : body_(body), input_(input), stack_(stack) {}

  /// Of the form Regular: units `thread`, thread + threads ...
  TESSERA_KERNEL void runEvery(std::int64_t thread, std::int64_t threads) {
    const std::int64_t count = input_.unitCount();
    for (std::int64_t n = thread; n < count && !hasFault(*input_.words); n += threads) {
      Unit unit = body_.first(input_.unitAt(n));
      callsOfUnit_ = 0;
      while (advance(unit)) {
      }
    }
    tally_.tell(input_);
  }

  /// Of the form Consumer: the next unit as soon as one has ended, so that no thread waits for the others.
  TESSERA_KERNEL void runNext() {
    const std::int64_t count = input_.unitCount();
    Unit unit{};
    bool alive = false;
    for (;;) {
      if (!alive) {
        const std::int64_t n = input_.words->next.fetch_add(1, std::memory_order_relaxed);
        if (n >= count || hasFault(*input_.words)) break;
        unit = body_.first(input_.unitAt(n));
        callsOfUnit_ = 0;
      }
      alive = advance(unit);
    }
    tally_.tell(input_);
  }

  /// For the body.
  TESSERA_KERNEL bool push(const Unit& unit) {
    if (waiting_ == Stack::kRoom) {
      noteFault(*input_.words, TaskFault::QueueFull);
      return false;
    }
    stack_[waiting_++] = unit;
    ++tally_.pushed;
    return true;
  }

 private:
  /// One call; false: the unit has ended, and what it has pushed.
  TESSERA_KERNEL bool advance(Unit& unit) {
    const UnitEnd end = body_.advance(unit, *this);
    if (++callsOfUnit_ % 256 == 0) {
      tally_.calls += 256;
      if (callsOfUnit_ > input_.limits.calls) noteFault(*input_.words, TaskFault::EndlessUnit);
      tally_.tell(input_);
      if (hasFault(*input_.words)) return false;
    }
    if (end == UnitEnd::GoOn) return true;
    ++tally_.ended;
    if (waiting_ == 0) {
      tally_.calls += callsOfUnit_ % 256;
      return false;
    }
    unit = stack_[--waiting_];
    return true;
  }

  const Body& body_;
  const TaskInput& input_;
  Tally tally_;
  std::int64_t callsOfUnit_ = 0;
  int waiting_ = 0;
  Stack& stack_;
};

/// One generation of the form Wavefront. The first one begins with the units of the execution space.
template <JobBody Body>
class Generation {
 public:
  using Unit = typename Body::Unit;

  static std::int64_t places(std::int64_t units, const JobLimits& limits) {
    return units + (Body::kPushes == 0 ? 0 : limits.queue);
  }
  static std::int64_t bytes(std::int64_t units, const JobLimits& limits) {
    return 2 * places(units, limits) * static_cast<std::int64_t>(sizeof(Unit));
  }

  TESSERA_KERNEL Generation(const Body& body, const TaskInput& input, std::int32_t number)
      : body_(body),
        input_(input),
        number_(number),
        places_(input.unitCount() + (Body::kPushes == 0 ? 0 : input.limits.queue)) {}

  TESSERA_KERNEL void runEvery(std::int64_t thread, std::int64_t threads) {
    const int from = number_ % 2;
    const Unit* units = array(from);
    const std::int64_t count =
        number_ == 0 ? input_.unitCount() : input_.words->counts[from].load(std::memory_order_relaxed);
    for (std::int64_t n = thread; n < count && !hasFault(*input_.words); n += threads) {
      Unit unit = number_ == 0 ? body_.first(input_.unitAt(n)) : units[n];
      UnitEnd end = UnitEnd::GoOn;
      for (std::int32_t call = 0; call < input_.grain && end == UnitEnd::GoOn; ++call) {
        end = body_.advance(unit, *this);
        ++tally_.calls;
      }
      if (end == UnitEnd::GoOn) {
        append(unit);
      } else {
        ++tally_.ended;
      }
    }
    if (std::int64_t{number_} * input_.grain > input_.limits.calls)
      noteFault(*input_.words, TaskFault::EndlessUnit);
    tally_.tell(input_);
  }

  /// For the body.
  TESSERA_KERNEL bool push(const Unit& unit) {
    ++tally_.pushed;
    return append(unit);
  }

 private:
  TESSERA_KERNEL Unit* array(int which) const {
    return reinterpret_cast<Unit*>(input_.scratch) + which * places_;
  }
  TESSERA_KERNEL bool append(const Unit& unit) {
    const int to = (number_ + 1) % 2;
    const std::int64_t at = input_.words->counts[to].fetch_add(1, std::memory_order_relaxed);
    if (at >= places_) {
      noteFault(*input_.words, TaskFault::QueueFull);
      return false;
    }
    array(to)[at] = unit;
    return true;
  }

  const Body& body_;
  const TaskInput& input_;
  std::int32_t number_;
  std::int64_t places_;
  Tally tally_;
};

}  // namespace tessera::jobs::detail
