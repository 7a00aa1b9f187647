#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tessera {

/// Runs a few threads of a small program in every interleaving of their atomic steps, by an explicit search
/// over states. A thread is a function that is called again and again: `turn(model, thread, phase)` returns
/// the next phase, or kDone. Within a turn its state is what its steps have returned so far, so a state is
/// (memory, for each thread its phase and these results), and a turn is replayed from its start up to the
/// step that comes next. Steps are sequentially consistent; memory orders are argued in
/// docs/datawarehouse.md and watched by ThreadSanitizer.
class Interleavings {
 public:
  using Cell = std::size_t;
  using Turn = std::function<int(Interleavings&, int thread, int phase)>;
  static constexpr int kDone = -1;

  /// Steps; each is one atomic action on a cell of memory.
  std::uint64_t load(Cell cell) {
    return step([&] { return memory()[cell]; });
  }
  std::uint64_t add(Cell cell, std::int64_t by) {
    return step([&] { return memory()[cell] += static_cast<std::uint64_t>(by); });
  }
  void store(Cell cell, std::uint64_t value) {
    step([&] { return memory()[cell] = value; });
  }
  /// The value before; it was replaced when it equals `expected`.
  std::uint64_t compareExchange(Cell cell, std::uint64_t expected, std::uint64_t desired) {
    return step([&] {
      const std::uint64_t before = memory()[cell];
      if (before == expected) memory()[cell] = desired;
      return before;
    });
  }

  /// Tries all of them. `atEnd` looks at the memory of each end state. Throws std::logic_error where a turn
  /// throws, where a turn needs more than `turnLimit` steps with the others at rest, or where a state cannot
  /// reach the end.
  void explore(std::vector<std::uint64_t> initial, int threads, const Turn& turn,
               const std::function<void(const std::vector<std::uint64_t>&)>& atEnd, int turnLimit = 24) {
    turn_ = &turn;
    State first{std::move(initial), {}};
    first.threads.resize(static_cast<std::size_t>(threads));
    numberOf(first);
    std::vector<std::vector<std::size_t>> before(1);
    std::vector<std::size_t> ends;
    for (std::size_t n = 0; n < list_.size(); ++n) {
      const State state = *list_[n];
      bool moved = false;
      for (int t = 0; t < threads; ++t) {
        if (state.threads[static_cast<std::size_t>(t)].phase == kDone) continue;
        moved = true;
        expectTurnEnds(state, t, turnLimit);
        const std::size_t next = numberOf(after(state, t));
        if (next >= before.size()) before.resize(next + 1);
        before[next].push_back(n);
      }
      if (moved) continue;
      atEnd(state.memory);
      ends.push_back(n);
    }
    expectAllReach(ends, before);
  }

  std::size_t states() const { return list_.size(); }
  std::size_t steps() const { return steps_; }

 private:
  struct Thread {
    int phase = 0;
    std::vector<std::uint64_t> results;
    friend auto operator<=>(const Thread&, const Thread&) = default;
  };
  struct State {
    std::vector<std::uint64_t> memory;
    std::vector<Thread> threads;
    friend auto operator<=>(const State&, const State&) = default;
  };
  /// Leaves a turn before its next step.
  struct Pause {};

  std::vector<std::uint64_t>& memory() { return state_.memory; }

  template <class Act>
  std::uint64_t step(Act&& act) {
    std::vector<std::uint64_t>& results = state_.threads[static_cast<std::size_t>(running_)].results;
    if (position_ < results.size()) return results[position_++];
    if (budget_ == 0) throw Pause{};
    --budget_;
    ++steps_;
    const std::uint64_t result = act();
    results.push_back(result);
    ++position_;
    return result;
  }

  /// The state after one step of a thread (and what it does without touching memory afterwards).
  State after(const State& from, int thread) {
    state_ = from;
    running_ = thread;
    position_ = 0;
    budget_ = 1;
    Thread& mine = state_.threads[static_cast<std::size_t>(thread)];
    try {
      mine.phase = (*turn_)(*this, thread, mine.phase);
      mine.results.clear();
    } catch (const Pause&) {
    }
    return state_;
  }

  void expectTurnEnds(State state, int thread, int limit) {
    const auto me = static_cast<std::size_t>(thread);
    for (int n = 0; n < limit; ++n) {
      state = after(state, thread);
      if (state.threads[me].results.empty()) return;
    }
    throw std::logic_error("a turn waits for other threads");
  }

  std::size_t numberOf(const State& state) {
    const auto [at, added] = numbers_.try_emplace(state, list_.size());
    if (added) list_.push_back(&at->first);
    return at->second;
  }

  void expectAllReach(const std::vector<std::size_t>& ends,
                      const std::vector<std::vector<std::size_t>>& before) const {
    std::vector<bool> reaches(list_.size(), false);
    std::vector<std::size_t> open = ends;
    std::size_t count = 0;
    while (!open.empty()) {
      const std::size_t n = open.back();
      open.pop_back();
      if (reaches[n]) continue;
      reaches[n] = true;
      ++count;
      if (n < before.size()) open.insert(open.end(), before[n].begin(), before[n].end());
    }
    if (count != list_.size()) throw std::logic_error("a state cannot reach the end");
  }

  const Turn* turn_ = nullptr;
  std::map<State, std::size_t> numbers_;
  std::vector<const State*> list_;
  State state_;
  int running_ = 0;
  std::size_t position_ = 0;
  int budget_ = 0;
  std::size_t steps_ = 0;
};

/// Stands for std::atomic in a model: cell 0 of the search that is under way.
template <class T>
class ModelAtomic {
 public:
  ModelAtomic(T) {}
  T load(std::memory_order) const { return search->load(0); }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    const T before = search->compareExchange(0, expected, desired);
    if (before == expected) return true;
    expected = before;
    return false;
  }
  static inline Interleavings* search = nullptr;
};

}  // namespace tessera
