// Every interleaving of threads that take and give back, on the code that ships.
#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "core/memory/idle_slots.hpp"
#include "tests/interleavings.hpp"

namespace tessera::detail {
namespace {

using test::Interleavings;
using test::ModelAtomic;
using test::ModelCase;
using test::ModelResult;

/// The same in each execution, and not from the heap.
struct Item {
  int number = 0;
  static void operator delete(void*) {}
};
Item items[2] = {{0}, {1}};

struct Shared {
  IdleSlots<Item, 2, ModelAtomic> slots;
  std::array<ModelAtomic<int>, 2> data;    ///< of each item; plain memory of the product, so relaxed
  std::array<ModelAtomic<int>, 2> owners;  ///< of each item
};

void expect(bool condition, const char* claim) {
  if (!condition) throw std::logic_error(claim);
}

/// Takes what there is, counts in its data, and gives it back. True: it got one.
bool use(Shared& s) {
  std::unique_ptr<Item> mine = s.slots.take();
  if (!mine) return false;
  const auto n = static_cast<std::size_t>(mine->number);
  expect(s.owners[n].fetch_add(1, std::memory_order_relaxed) == 0, "two threads own one item");
  const int seen = s.data[n].load(std::memory_order_relaxed);
  s.data[n].store(seen + 1, std::memory_order_relaxed);
  s.owners[n].fetch_add(-1, std::memory_order_relaxed);
  s.slots.giveBack(std::move(mine));
  return true;
}

/// `threads` threads each use an item once, of `count` that are there.
ModelCase useCase(int threads, int count) {
  auto shared = std::make_shared<Shared>();
  auto used = std::make_shared<int>(0);
  for (int n = 0; n < count; ++n) shared->slots.giveBack(std::unique_ptr<Item>(&items[n]));
  ModelCase model;
  for (int t = 0; t < threads; ++t) {
    model.threads.push_back([&s = *shared, &total = *used] {
      if (use(s)) ++total;
    });
  }
  model.verdict = [=]() -> std::string {
    int there = 0;
    int counted = 0;
    while (shared->slots.take()) ++there;
    for (const auto& data : shared->data) counted += data.load(std::memory_order_relaxed);
    if (there != count) return "an item was lost or doubled";
    return counted == *used ? "" : "a thread did not see what the one before it did";
  };
  return model;
}

void expectRight(int threads, int count) {
  const ModelResult result = Interleavings().explore([=] { return useCase(threads, count); });
  EXPECT_EQ(result.fault, "") << threads << " threads, " << count << " items, execution "
                              << result.executions;
  EXPECT_GT(result.states, 20);
}

TEST(IdleSlotsModel, AnItemHasOneOwnerWhoSeesWhatTheLastOneDid) {
  expectRight(2, 1);
  expectRight(2, 2);
  expectRight(3, 1);
}

}  // namespace
}  // namespace tessera::detail
