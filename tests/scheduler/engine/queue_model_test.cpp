// Every interleaving of small programs on the engine's queue, the same code that host threads and kernels
// run.
#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "scheduler/engine/detail/host_memory.hpp"
#include "tests/interleavings.hpp"

namespace tessera::engine {
namespace {

using testing::Interleavings;
using testing::ModelAtomics;
using testing::ModelCase;
using testing::ModelResult;

using Queue = HostQueue<int, ModelAtomics>;

/// A queue, and what each consumer took from it.
struct Bench {
  static constexpr std::uint64_t kAfterwards = 0;  ///< a phase: all threads have ended

  explicit Bench(std::size_t capacity, std::size_t consumers) : queue(capacity), taken(consumers) {}
  Queue queue;
  std::vector<std::vector<int>> taken;

  /// Puts `count` items from `first` on, as one bundle; turns from `phase` on are this thread's waits.
  bool push(int first, int count, std::uint64_t phase) {
    const auto& view = queue.view();
    if (!view.claimRoom(count)) return false;
    const std::uint64_t ticket = view.tickets(count);
    for (int n = 0; n < count; ++n) {
      const std::uint64_t mine = ticket + static_cast<std::uint64_t>(n);
      do {
        if (phase != kAfterwards) Interleavings::current()->beginTurn(phase * 1000 + mine);
      } while (!view.ring.isFree(mine));
      view.ring.put(mine, first + n);
    }
    view.published(count);
    return true;
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
    if (claim.count > 0) view.emptied(claim.count);
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
    auto pushed = std::make_shared<int>(0);
    ModelCase model;
    model.threads = {[=] {
                       for (std::uint64_t n = 0; n < 3; ++n)
                         *pushed += bench->push(*pushed, 1, 1 + n) ? 1 : 0;
                     },
                     [=] {
                       for (std::uint64_t n = 0; n < 2; ++n)
                         bench->take(bench->queue.view().tryClaim(1, 1), 0, 10 + n);
                     }};
    model.verdict = [=]() -> std::string {
      bench->take(bench->queue.view().tryClaim(4, 1), 0, Bench::kAfterwards);
      return bench->eachOnce(*pushed);
    };
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

TEST(TicketQueueModel, AFullQueueTakesNothingAndHasRoomAgainLater) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 1);
    auto taken = std::make_shared<int>(0);
    ModelCase model;
    for (int p = 0; p < 2; ++p) {
      model.threads.push_back([=] { *taken += bench->push(0, 2, 1) ? 2 : 0; });
    }
    model.verdict = [=]() -> std::string {
      if (*taken > 2) return "more was taken than there is room for";
      bench->take(bench->queue.view().tryClaim(2, 1), 0, Bench::kAfterwards);
      if (static_cast<int>(bench->all().size()) != *taken) return "an item was lost";
      return bench->push(0, 2, Bench::kAfterwards) ? "" : "there is no room in an empty queue";
    };
    return model;
  });
}

TEST(TicketQueueModel, AConsumerSeesWhatTheProducerDidBefore) {
  expectRight([] {
    auto bench = std::make_shared<Bench>(2, 1);
    auto data = std::make_shared<testing::ModelAtomic<int>>(0);
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

}  // namespace
}  // namespace tessera::engine
