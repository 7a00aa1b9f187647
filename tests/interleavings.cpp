#include "tests/interleavings.hpp"

#include <algorithm>
#include <stdexcept>

#if defined(__SANITIZE_THREAD__)
#define TESSERA_TSAN_FIBERS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESSERA_TSAN_FIBERS
#endif
#endif
#if defined(TESSERA_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera::test {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
/// More than any turn of a small program needs.
constexpr int kMostSteps = 500;
Interleavings* exploring = nullptr;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash ^= hash >> 30;
  hash *= 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 31);
}

void* newTsanFiber() {
#if defined(TESSERA_TSAN_FIBERS)
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

void switchTsanFiber([[maybe_unused]] void* fiber) {
#if defined(TESSERA_TSAN_FIBERS)
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

void endTsanFiber([[maybe_unused]] void* fiber) {
#if defined(TESSERA_TSAN_FIBERS)
  __tsan_destroy_fiber(fiber);
#endif
}

void* thisTsanFiber() {
#if defined(TESSERA_TSAN_FIBERS)
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

}  // namespace

Interleavings::~Interleavings() = default;

Interleavings* Interleavings::current() { return exploring; }

ModelResult Interleavings::explore(const std::function<ModelCase()>& make) {
  ModelResult result;
  exploring = this;
  homeTsan_ = thisTsanFiber();
  choices_.clear();
  numbers_.clear();
  before_.clear();
  ends_.clear();
  bool more = true;
  while (more && result.fault.empty()) {
    ++result.executions;
    execute(make, result);
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
    more = !choices_.empty();
    if (more) ++choices_.back().taken;
  }
  if (result.fault.empty()) result.fault = deadEnd();
  result.states = static_cast<std::int64_t>(numbers_.size());
  exploring = nullptr;
  return result;
}

/// Each thread up to its first operation, which nobody else can see.
void Interleavings::begin(ModelCase& model) {
  while (stacks_.size() < model.threads.size()) stacks_.push_back(std::make_unique<char[]>(kStackBytes));
  for (std::size_t n = 0; n < model.threads.size(); ++n) {
    fibers_.push_back(std::make_unique<Fiber>());
    Fiber& fiber = *fibers_.back();
    fiber.body = std::move(model.threads[n]);
    fiber.tsan = newTsanFiber();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks_[n].get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Interleavings::enter, 0);
    resume(n);
  }
}

/// One execution along `choices_`, and on with the first move wherever there are no choices yet.
void Interleavings::execute(const std::function<ModelCase()>& make, ModelResult& result) {
  memory_.clear();
  for (const auto& fiber : fibers_) endTsanFiber(fiber->tsan);
  fibers_.clear();
  depth_ = 0;
  fault_.clear();
  ModelCase model = make();
  begin(model);
  while (fault_.empty()) {
    const std::vector<Move> possible = moves();
    if (depth_ == choices_.size()) {
      const auto [state, isNew] = enterState();
      if (possible.empty()) {
        fault_ = endFault(model);
        ends_.push_back(state);
        break;
      }
      if (!isNew) return;
      choices_.push_back({state, 0, possible.size()});
    }
    this->make(possible[choices_[depth_++].taken]);
  }
  result.fault = fault_;
}

/// Notes the state behind the last choice, and that the state of that choice leads to it. True: it is new.
std::pair<std::size_t, bool> Interleavings::enterState() {
  const auto [at, isNew] = numbers_.try_emplace(stateHash(), numbers_.size());
  if (isNew) before_.emplace_back();
  if (!choices_.empty()) before_[at->second].push_back(choices_.back().state);
  return {at->second, isNew};
}

std::string Interleavings::endFault(const ModelCase& model) const {
  for (std::size_t n = 0; n < fibers_.size(); ++n) {
    if (!fibers_[n]->ended) return "thread " + std::to_string(n) + " sleeps for ever";
  }
  return model.verdict();
}

std::string Interleavings::deadEnd() const {
  std::vector<bool> reachesAnEnd(before_.size(), false);
  std::vector<std::size_t> open = ends_;
  std::size_t count = 0;
  while (!open.empty()) {
    const std::size_t state = open.back();
    open.pop_back();
    if (reachesAnEnd[state]) continue;
    reachesAnEnd[state] = true;
    ++count;
    open.insert(open.end(), before_[state].begin(), before_[state].end());
  }
  return count == before_.size() ? "" : "the threads come back for ever, and none of them gets on";
}

std::vector<Interleavings::Move> Interleavings::moves() const {
  std::vector<Move> possible;
  for (std::size_t f = 0; f < fibers_.size(); ++f) {
    const Fiber& fiber = *fibers_[f];
    if (!fiber.ended && fiber.asleepOn < 0) possible.push_back({f, -1});
    for (std::size_t e = 0; e < fiber.buffer.size(); ++e) {
      const auto& entry = fiber.buffer[e];
      const bool overtakes =
          std::any_of(fiber.buffer.begin(), fiber.buffer.begin() + static_cast<std::ptrdiff_t>(e),
                      [&](const Store& s) { return entry.release || s.place == entry.place; });
      if (!overtakes) possible.push_back({f, static_cast<int>(e)});
    }
  }
  return possible;
}

void Interleavings::make(const Move& move) {
  if (move.flush < 0) return resume(move.fiber);
  std::vector<Store>& buffer = fibers_[move.fiber]->buffer;
  const auto entry = buffer.begin() + move.flush;
  memory_[static_cast<std::size_t>(entry->place)] = entry->value;
  buffer.erase(entry);
}

void Interleavings::resume(std::size_t fiber) {
  active_ = static_cast<int>(fiber);
  switchTsanFiber(fibers_[fiber]->tsan);
  swapcontext(&home_, &fibers_[fiber]->context);
  active_ = -1;
}

void Interleavings::enter() {
  Interleavings& model = *exploring;
  Fiber& fiber = model.self();
  try {
    fiber.body();
  } catch (const std::exception& error) {
    model.fault_ = error.what();
  }
  fiber.ended = true;
  switchTsanFiber(model.homeTsan_);
  setcontext(&model.home_);
}

void Interleavings::beginTurn(std::uint64_t phase) {
  self().past = mix(1, phase);
  self().steps = 0;
}

/// Before each operation: another fiber may come first.
void Interleavings::yield() {
  Fiber& fiber = self();
  if (++fiber.steps > kMostSteps) fault_ = "a thread waits for others inside of a turn";
  switchTsanFiber(homeTsan_);
  swapcontext(&fiber.context, &home_);
}

void Interleavings::remember(std::uint64_t value) {
  if (running()) self().past = mix(self().past, value);
}

void Interleavings::flushAll(Fiber& fiber) {
  for (const Store& store : fiber.buffer) memory_[static_cast<std::size_t>(store.place)] = store.value;
  fiber.buffer.clear();
}

std::uint64_t Interleavings::stateHash() const {
  std::uint64_t hash = 1;
  for (const std::uint64_t value : memory_) hash = mix(hash, value);
  for (const auto& fiber : fibers_) {
    hash = mix(hash, fiber->past);
    hash = mix(hash, static_cast<std::uint64_t>(fiber->asleepOn + 1) * 2 + (fiber->ended ? 1 : 0));
    hash = mix(hash, fiber->buffer.size());
    for (const Store& store : fiber->buffer) {
      hash =
          mix(mix(hash, static_cast<std::uint64_t>(store.place) * 2 + (store.release ? 1 : 0)), store.value);
    }
  }
  return hash;
}

int Interleavings::addPlace(std::uint64_t value) {
  memory_.push_back(value);
  return static_cast<int>(memory_.size()) - 1;
}

std::uint64_t Interleavings::load(int place) {
  std::uint64_t value = memory_[static_cast<std::size_t>(place)];
  if (!running()) return value;
  yield();
  value = memory_[static_cast<std::size_t>(place)];
  for (const Store& store : self().buffer) {
    if (store.place == place) value = store.value;
  }
  remember(value);
  return value;
}

void Interleavings::store(int place, std::uint64_t value, std::memory_order order) {
  if (!running()) {
    memory_[static_cast<std::size_t>(place)] = value;
    return;
  }
  yield();
  remember(1);
  if (order == std::memory_order_seq_cst && ordering_ == Ordering::AsAsked) {
    flushAll(self());
    memory_[static_cast<std::size_t>(place)] = value;
  } else {
    self().buffer.push_back({place, value, order != std::memory_order_relaxed});
  }
}

std::uint64_t Interleavings::modify(int place, const std::function<std::uint64_t(std::uint64_t)>& change) {
  if (running()) {
    yield();
    flushAll(self());
  }
  std::uint64_t& value = memory_[static_cast<std::size_t>(place)];
  const std::uint64_t before = value;
  value = change(before);
  remember(before);
  return before;
}

bool Interleavings::compareExchange(int place, std::uint64_t& expected, std::uint64_t desired) {
  const std::uint64_t wanted = expected;
  expected = modify(place, [&](std::uint64_t old) { return old == wanted ? desired : old; });
  return expected == wanted;
}

void Interleavings::sleep(int place, std::uint64_t expected) {
  yield();
  flushAll(self());
  const bool falls = memory_[static_cast<std::size_t>(place)] == expected;
  remember(falls ? 1 : 0);
  if (!falls) return;
  self().asleepOn = place;
  yield();
  remember(3);  // or what comes next would look like a state that has been seen: the one before it woke up
}

void Interleavings::wake(int place) {
  yield();
  flushAll(self());
  remember(2);
  for (const auto& fiber : fibers_) {
    if (fiber->asleepOn == place) fiber->asleepOn = -1;
  }
}

}  // namespace tessera::test
