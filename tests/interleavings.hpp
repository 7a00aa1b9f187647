#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <ucontext.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::test {

/// What to try in every order: made anew for each execution.
struct ModelCase {
  std::vector<std::function<void()>> threads;  ///< whatever one throws is a fault
  /// After all threads have ended: empty, or what is wrong.
  std::function<std::string()> verdict;
};

/// How far a processor may go from the order of the program.
enum class Ordering {
  AsAsked,             ///< as the memory orders in the code say
  SeqCstIsOnlyRelease  ///< stores that ask for seq_cst get release: shows that the code needs more
};

/// What was found.
struct ModelResult {
  std::string fault;  ///< of the first execution that went wrong; empty: none did
  std::int64_t executions = 0;
  std::int64_t states = 0;
};

/// Runs small programs on ModelAtomics in every interleaving of their atomic operations, on a memory that is
/// weaker than that of a processor by partial store order: a store first waits in its thread's buffer, and
/// buffered stores to different places reach memory in any order, unless a later one of them is a release,
/// which no earlier one is overtaken by. seq_cst stores and read-modify-writes empty the buffer at once.
/// Loads are made in order. States that have been seen with the same memory, buffers and pasts of all threads
/// are not tried again.
///
/// A thread that comes back again and again until something holds says so by `beginTurn`, and then may go on
/// for ever: states repeat. It is a fault where a state is reached from which no choice leads to the end, and
/// where a thread makes more steps in one turn than any useful program: it waits for others inside of it.
class Interleavings {
 public:
  explicit Interleavings(Ordering ordering = Ordering::AsAsked) : ordering_(ordering) {}
  ~Interleavings();
  ModelResult explore(const std::function<ModelCase()>& make);

  /// By a thread of a case: what it does from now on depends on `phase` and on what it reads from now on,
  /// alone.
  void beginTurn(std::uint64_t phase);

  // For ModelAtomic and ModelKernel.
  static Interleavings* current();
  int addPlace(std::uint64_t value);
  std::uint64_t load(int place);
  void store(int place, std::uint64_t value, std::memory_order order);
  std::uint64_t modify(int place, const std::function<std::uint64_t(std::uint64_t)>& change);
  bool compareExchange(int place, std::uint64_t& expected, std::uint64_t desired);
  void sleep(int place, std::uint64_t expected);
  void wake(int place);

 private:
  struct Store {
    int place = 0;
    std::uint64_t value = 0;
    bool release = false;
  };
  struct Fiber {
    ucontext_t context{};
    std::function<void()> body;
    std::vector<Store> buffer;
    std::uint64_t past = 0;  ///< hash of all that its operations returned, in this turn
    int steps = 0;           ///< in this turn
    int asleepOn = -1;
    bool ended = false;
    void* tsan = nullptr;
  };
  struct Choice {
    std::size_t state = 0;  ///< in which it is made
    std::size_t taken = 0;
    std::size_t count = 0;
  };
  struct Move {
    std::size_t fiber = 0;
    int flush = -1;  ///< entry of the buffer to write to memory; -1: the fiber goes on
  };

  void execute(const std::function<ModelCase()>& make, ModelResult& result);
  void begin(ModelCase& model);
  std::pair<std::size_t, bool> enterState();
  std::string endFault(const ModelCase& model) const;
  std::string deadEnd() const;
  std::vector<Move> moves() const;
  void make(const Move& move);
  void resume(std::size_t fiber);
  void yield();
  void remember(std::uint64_t value);
  void flushAll(Fiber& fiber);
  std::uint64_t stateHash() const;
  bool running() const { return active_ >= 0; }
  Fiber& self() { return *fibers_[static_cast<std::size_t>(active_)]; }
  static void enter();

  Ordering ordering_;
  std::vector<std::uint64_t> memory_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  ucontext_t home_{};
  void* homeTsan_ = nullptr;
  int active_ = -1;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::string fault_;                                       ///< of the running execution
  std::unordered_map<std::uint64_t, std::size_t> numbers_;  ///< of states, by hash
  std::vector<std::vector<std::size_t>> before_;            ///< the states that lead to each
  std::vector<std::size_t> ends_;                           ///< states in which all threads have ended
};

/// An atomic variable of the model; what std::atomic can do, as far as our code uses it. Pointers have to
/// point to what is the same in each execution.
template <class T>
class ModelAtomic {
 public:
  ModelAtomic() : ModelAtomic(T{}) {}
  ModelAtomic(T value) : place_(Interleavings::current()->addPlace(bits(value))) {}  // NOLINT
  ModelAtomic(const ModelAtomic&) = delete;
  ModelAtomic& operator=(const ModelAtomic&) = delete;

  T load(std::memory_order) const { return value(model().load(place_)); }
  void store(T value, std::memory_order order) { model().store(place_, bits(value), order); }
  T exchange(T value, std::memory_order) {
    return modify([=](T) { return value; });
  }
  T fetch_add(T by, std::memory_order) {
    return modify([=](T old) { return static_cast<T>(old + by); });
  }
  T fetch_or(T with, std::memory_order) {
    return modify([=](T old) { return static_cast<T>(old | with); });
  }
  T fetch_and(T with, std::memory_order) {
    return modify([=](T old) { return static_cast<T>(old & with); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order) {
    return compare_exchange_strong(expected, desired, success);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order) {
    std::uint64_t seen = bits(expected);
    const bool done = model().compareExchange(place_, seen, bits(desired));
    expected = value(seen);
    return done;
  }
  int place() const { return place_; }

 private:
  static std::uint64_t bits(T value) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<std::uintptr_t>(value);
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }
  static T value(std::uint64_t bits) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(bits);
    } else {
      return static_cast<T>(bits);
    }
  }
  static Interleavings& model() { return *Interleavings::current(); }
  template <class Change>
  T modify(const Change& change) {
    return value(model().modify(place_, [&](std::uint64_t old) { return bits(change(value(old))); }));
  }
  int place_;
};

/// Plain memory of the model: no more ordered than a relaxed atomic.
template <class T>
class ModelPlain {
 public:
  ModelPlain() = default;
  ModelPlain& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const { return value_.load(std::memory_order_relaxed); }  // NOLINT

 private:
  ModelAtomic<T> value_;
};

struct ModelAtomics {
  template <class T>
  using Atomic = ModelAtomic<T>;
  template <class T>
  using Plain = ModelPlain<T>;
};

/// The kernel's sleep; nobody wakes up for no reason, so that a lost wake-up shows as a sleep for ever.
struct ModelKernel {
  static void wait(const ModelAtomic<std::uint32_t>& word, std::uint32_t expected) {
    Interleavings::current()->sleep(word.place(), expected);
  }
  static void waitFor(const ModelAtomic<std::uint32_t>&, std::uint32_t, std::chrono::microseconds) {}
  static void wake(const ModelAtomic<std::uint32_t>& word) { Interleavings::current()->wake(word.place()); }
};

}  // namespace tessera::test
