#include "scheduler/executor/fiber.hpp"

#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#include "core/text/contracts.hpp"
#include "scheduler/executor/stack_notes.hpp"

namespace tessera::detail {
namespace {

/// As much as a thread has; the kernel gives pages when they are touched.
constexpr std::size_t kStackBytes = std::size_t{8} << 20U;

/// Memory for a stack, with a page below it that may not be touched.
class StackMemory {
 public:
  StackMemory() : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = mmap(nullptr, kStackBytes + guard_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, guard_, PROT_NONE);
  }
  ~StackMemory() { munmap(memory_, kStackBytes + guard_); }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  void* begin() const { return static_cast<char*>(memory_) + guard_; }

 private:
  std::size_t guard_;
  void* memory_;
};

/// What the C++ runtime keeps for a thread about exceptions in flight (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  /// Takes the thread's away and gives it this one.
  void exchange() {
    ExceptionState mine = *this;
    void* const ofThread = abi::__cxa_get_globals();
    std::memcpy(static_cast<void*>(this), ofThread, sizeof *this);
    std::memcpy(ofThread, &mine, sizeof mine);
  }
};

}  // namespace

struct Fiber::State {
  explicit State(std::function<void()> theBody) : body(std::move(theBody)) {
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack.begin();
    inside.uc_stack.ss_size = kStackBytes;
    inside.uc_link = nullptr;
    // makecontext hands on ints.
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inside, reinterpret_cast<void (*)()>(&State::main), 2, static_cast<unsigned>(self >> 32U),
                static_cast<unsigned>(self));
  }

  static void main(unsigned high, unsigned low) {
    const std::uintptr_t self = (static_cast<std::uintptr_t>(high) << 32U) | low;
    State& state = *reinterpret_cast<State*>(self);
    state.notes.arrived(nullptr);
    state.body();
    state.ended = true;
    state.notes.leavesForEver();
    swapcontext(&state.inside, &state.outside);
  }

  std::function<void()> body;
  StackMemory stack;
  ucontext_t inside{};
  ucontext_t outside{};
  ExceptionState others;  ///< state of the side that is not running
  StackNotes notes;
  bool ended = false;
};

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>(std::move(body))) {}

Fiber::~Fiber() = default;

bool Fiber::ended() const { return state_->ended; }

void Fiber::enter() {
  TESSERA_EXPECT(!state_->ended, "enter a fiber until it has ended");
  state_->others.exchange();
  void* const mark = state_->notes.enters(state_->stack.begin(), kStackBytes);
  swapcontext(&state_->outside, &state_->inside);
  state_->notes.returned(mark);
  state_->others.exchange();
}

void Fiber::leave() {
  void* const mark = state_->notes.leaves();
  swapcontext(&state_->inside, &state_->outside);
  state_->notes.arrived(mark);
}

}  // namespace tessera::detail
