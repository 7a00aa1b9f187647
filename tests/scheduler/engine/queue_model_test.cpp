// Every interleaving of small programs on the engine's queue, the same code that host threads and kernels
// run.
#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "scheduler/engine/detail/stamped_ring.hpp"
#include "scheduler/engine/queues/host_memory.hpp"
#include "tests/interleavings.hpp"

namespace tessera::engine {
namespace {

using test::Interleavings;
using test::ModelAtomics;
using test::ModelCase;
using test::ModelResult;

using Queue = HostQueue<int, ModelAtomics>;

/// A queue, and what each consumer took from it.
struct Bench {
  static constexpr std::uint64_t kAfterwards = 0;  ///< a phase: all threads have ended

  explicit Bench(std::size_t capacity, std::size_t consumers) : queue(capacity), taken(consumers) {}
  Queue queue;
  std::vector<std::vector<int>> taken;

  /// Puts `count` items from `first` on, as one bundle; turns from `phase` on are this thread's waits.
  void push(int first, int count, std::uint64_t phase) {
    const auto& view = queue.view();
    const std::uint64_t ticket = view.tickets(count);
    for (int n = 0; n < count; ++n) {
      const std::uint64_t mine = ticket + static_cast<std::uint64_t>(n);
      do {
        if (phase != kAfterwards) Interleavings::current()->beginTurn(phase * 1000 + mine);
      } while (!view.ring.isFree(mine));
      view.ring.put(mine, first + n);
    }
    view.published(count);
  }

  void take(const Claim& claim, std::size_t consumer, std::uint64_t phase) {
    const auto& view = queue.view();
    for (std::int64_t n = 0; n < claim.count; ++n) {
      const std::uint64_t mine = claim.first + static_cast<std::uint64_t>(n);
      do {
        if (phase == kAfterwards) continue;
        Interleavings::current()->beginTurn(phase * 1000 + mine * 10 +
                                            static_cast<std::uint64_t>(claim.count));
      } while (!view.ring.isFull(mine));
      taken[consumer].push_back(view.ring.take(mine));
    }
  }

  std::vector<int> all() const {
    std::vector<int> items;
    for (const auto& some : taken) items.insert(items.end(), some.begin(), some.end());
    std::sort(items.begin(), items.end());
    return items;
  }
  std::string eachOnce(int count) const {
    std::vector<int> expected(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) expected[static_cast<std::size_t>(n)] = n;
    return all() == expected ? "" : "not each item was taken once";
  }
};

void expectRight(const std::function<ModelCase()>& make) {
  const ModelResult result = Interleavings().explore(make);
  EXPECT_EQ(result.fault, "") << "in execution " << result.executions;
  EXPECT_GT(result.states, 20);
}

TEST(TicketQueueModel, TwoProducersAndTwoWaitingConsumersHandOverEachItemOnce) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 2);
    ModelCase model;
    for (int p = 0; p < 2; ++p) {
      model.threads.push_back([=] { bench->push(p, 1, 1); });
    }
    for (std::size_t c = 0; c < 2; ++c) {
      model.threads.push_back([=] { bench->take(bench->queue.view().claim(1, 1), c, 2); });
    }
    model.verdict = [=] { return bench->eachOnce(2); };
    return model;
  });
}

TEST(TicketQueueModel, ARingThatComesAroundLosesNothing) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 1);
    auto permits = std::make_shared<test::ModelAtomic<int>>(2);
    ModelCase model;
    model.threads = {[=] {
                       for (int n = 0; n < 3; ++n) {
                         do {
                           Interleavings::current()->beginTurn(100 + static_cast<std::uint64_t>(n));
                         } while (permits->load(std::memory_order_relaxed) == 0);
                         permits->fetch_add(-1, std::memory_order_relaxed);
                         bench->push(n, 1, 1 + static_cast<std::uint64_t>(n));
                       }
                     },
                     [=] {
                       for (std::uint64_t n = 0; n < 3; ++n) {
                         bench->take(bench->queue.view().claim(1, 1), 0, 10 + n);
                         permits->fetch_add(1, std::memory_order_relaxed);
                       }
                     }};
    model.verdict = [=] { return bench->eachOnce(3); };
    return model;
  });
}

TEST(TicketQueueModel, BundlesAreSharedOutBetweenConsumersThatTakeManyAtOnce) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 2);
    ModelCase model;
    model.threads.push_back([=] { bench->push(0, 2, 1); });
    for (std::size_t c = 0; c < 2; ++c) {
      model.threads.push_back([=] { bench->take(bench->queue.view().tryClaim(2, 1), c, 2); });
    }
    model.verdict = [=] {
      // The threads have ended: what they left is there, and nothing stands in the way of it.
      bench->take(bench->queue.view().tryClaim(2, 1), 0, Bench::kAfterwards);
      return bench->eachOnce(2);
    };
    return model;
  });
}

TEST(TicketQueueModel, AConsumerSeesWhatTheProducerDidBefore) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 1);
    auto data = std::make_shared<test::ModelAtomic<int>>(0);
    auto seen = std::make_shared<int>(0);
    ModelCase model;
    model.threads = {[=] {
                       data->store(7, std::memory_order_relaxed);
                       bench->push(0, 1, 1);
                     },
                     [=] {
                       bench->take(bench->queue.view().claim(1, 1), 0, 2);
                       *seen = data->load(std::memory_order_relaxed);
                     }};
    model.verdict = [=] { return *seen == 7 ? "" : "the item came before what it stands for"; };
    return model;
  });
}

TEST(StampedRingModel, AnItemIsThereAsAWholeOrNotAtAll) {
  expectRight([] {
    struct Memory {
      struct Item {
        unsigned char bytes[60];
      };
      using Ring = StampedRing<Item, ModelAtomics>;
      std::unique_ptr<Ring::Chunk[]> chunks{new Ring::Chunk[Ring::kChunks]};
      Ring ring{chunks.get(), 0};
      std::string fault;
    };
    auto memory = std::make_shared<Memory>();
    ModelCase model;
    model.threads = {[=] {
                       Memory::Item item;
                       std::fill(std::begin(item.bytes), std::end(item.bytes), static_cast<unsigned char>(7));
                       memory->ring.put(5, item);
                     },
                     [=] {
                       Memory::Item item;
                       do {
                         Interleavings::current()->beginTurn(1);
                       } while (!memory->ring.get(5, item));
                       for (const unsigned char byte : item.bytes) {
                         if (byte != 7) memory->fault = "a stamp came before its bytes";
                       }
                     }};
    model.verdict = [=] { return memory->fault; };
    return model;
  });
}

}  // namespace
}  // namespace tessera::engine
