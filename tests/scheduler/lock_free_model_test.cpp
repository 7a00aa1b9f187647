// Every interleaving of small programs on the lock-free parts, the same code that the product runs.
#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/lock_free/submissions.hpp"
#include "scheduler/executor/event_count.hpp"
#include "scheduler/executor/spsc_ring.hpp"
#include "scheduler/executor/work_deque.hpp"
#include "tests/interleavings.hpp"

namespace tessera::detail {
namespace {

using test::Interleavings;
using test::ModelAtomic;
using test::ModelAtomics;
using test::ModelCase;
using test::ModelKernel;
using test::ModelResult;
using test::Ordering;

using Deque = WorkDeque<4, ModelAtomics>;
using Parking = EventCount<ModelAtomics, ModelKernel>;

void expectRight(const std::function<ModelCase()>& make) {
  const ModelResult result = Interleavings().explore(make);
  EXPECT_EQ(result.fault, "") << "in execution " << result.executions;
  // A model that tries next to nothing would prove next to nothing.
  EXPECT_GT(result.states, 20);
}

void expectWrongWithoutSeqCst(const std::function<ModelCase()>& make) {
  EXPECT_NE(Interleavings(Ordering::SeqCstIsOnlyRelease).explore(make).fault, "");
}

/// What each thread took, and whether all together is each of 0..count-1 once.
struct Taken {
  std::vector<std::vector<std::int32_t>> by;
  explicit Taken(std::size_t threads) : by(threads) {}
  void add(std::size_t thread, std::int32_t item) {
    if (item != Deque::kNone) by[thread].push_back(item);
  }
  std::string eachOnce(std::int32_t count) const {
    std::vector<std::int32_t> all;
    for (const auto& some : by) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    for (std::int32_t n = 0; n < count; ++n) {
      if (std::count(all.begin(), all.end(), n) != 1) {
        return "item " + std::to_string(n) + " was taken " +
               std::to_string(std::count(all.begin(), all.end(), n)) + " times";
      }
    }
    return std::ssize(all) == count ? "" : "an item was taken that nobody has pushed";
  }
};

/// The owner pushes `first` items, then pops and pushes in turn; each thief steals `steals` times.
ModelCase dequeCase(int first, int later, int thieves, int steals) {
  auto deque = std::make_shared<Deque>();
  auto taken = std::make_shared<Taken>(static_cast<std::size_t>(thieves) + 1);
  ModelCase model;
  model.threads.push_back([=] {
    std::int32_t next = 0;
    for (int n = 0; n < first; ++n) deque->push(next++);
    for (int n = 0; n < later; ++n) {
      taken->add(0, deque->pop());
      deque->push(next++);
    }
    taken->add(0, deque->pop());
  });
  for (int t = 1; t <= thieves; ++t) {
    model.threads.push_back([=] {
      for (int n = 0; n < steals; ++n) taken->add(static_cast<std::size_t>(t), deque->steal());
    });
  }
  model.verdict = [=] {
    for (std::int32_t item = deque->pop(); item != Deque::kNone; item = deque->pop()) taken->add(0, item);
    return taken->eachOnce(first + later);
  };
  return model;
}

TEST(WorkDequeModel, OwnerAndOneThiefTakeEachItemOnce) {
  expectRight([] { return dequeCase(2, 1, 1, 2); });
  expectRight([] { return dequeCase(1, 2, 1, 2); });
}

TEST(WorkDequeModel, OwnerAndTwoThievesTakeEachItemOnce) {
  expectRight([] { return dequeCase(2, 0, 2, 1); });
  expectRight([] { return dequeCase(1, 1, 2, 1); });
}

TEST(WorkDequeModel, PopNeedsItsStoreToBeSeqCst) {
  expectWrongWithoutSeqCst([] { return dequeCase(2, 0, 1, 2); });
}

TEST(WorkDequeModel, AThiefSeesWhatTheOwnerDidBeforeItPushed) {
  expectRight([] {
    auto deque = std::make_shared<Deque>();
    auto data = std::make_shared<ModelAtomic<int>>(0);
    auto seen = std::make_shared<int>(7);
    ModelCase model;
    model.threads = {[=] {
                       data->store(7, std::memory_order_relaxed);
                       deque->push(0);
                       deque->pop();
                       deque->push(0);
                     },
                     [=] {
                       if (deque->steal() != Deque::kNone) *seen = data->load(std::memory_order_relaxed);
                       if (deque->steal() != Deque::kNone) *seen = data->load(std::memory_order_relaxed);
                     }};
    model.verdict = [=] { return *seen == 7 ? "" : "an item was stolen before its data were there"; };
    return model;
  });
}

TEST(SpscRingModel, EveryNumberArrivesOnceInOrderThroughAFullRing) {
  expectRight([] {
    auto ring = std::make_shared<SpscRing<ModelAtomics>>(2);
    auto sent = std::make_shared<int>(0);
    auto got = std::make_shared<std::vector<std::int32_t>>();
    const auto take = [=](std::int32_t n) { got->push_back(n); };
    ModelCase model;
    model.threads = {[=] {
                       for (int tries = 0; tries < 5 && *sent < 4; ++tries) {
                         if (ring->stage(*sent)) ++*sent;
                         if (tries % 2 == 1) ring->publish();
                       }
                       ring->publish();
                     },
                     [=] {
                       ring->drain(take);
                       ring->drain(take);
                       ring->drain(take);
                     }};
    model.verdict = [=]() -> std::string {
      ring->drain(take);
      for (int n = 0; n < *sent; ++n) {
        if (n >= std::ssize(*got) || (*got)[static_cast<std::size_t>(n)] != n)
          return "a number is missing or wrong";
      }
      return std::ssize(*got) == *sent ? "" : "a number came twice";
    };
    return model;
  });
}

TEST(SubmissionsModel, TwoPushersAndATakerLoseNothing) {
  expectRight([] {
    auto submitted = std::make_shared<Submissions<ModelAtomics>>(3);
    auto data = std::make_shared<std::array<ModelAtomic<int>, 3>>();
    auto taken = std::make_shared<Taken>(1);
    auto early = std::make_shared<bool>(false);
    const auto push = [=](std::int32_t n) {
      (*data)[static_cast<std::size_t>(n)].store(1, std::memory_order_relaxed);
      submitted->push(n);
    };
    const auto take = [=](std::int32_t n) {
      taken->add(0, n);
      if ((*data)[static_cast<std::size_t>(n)].load(std::memory_order_relaxed) != 1) *early = true;
    };
    ModelCase model;
    model.threads = {[=] {
                       push(0);
                       push(1);
                     },
                     [=] { push(2); }, [=] { submitted->takeAll(take); }};
    model.verdict = [=]() -> std::string {
      submitted->takeAll(take);
      return *early ? "a number was taken before its data were there" : taken->eachOnce(3);
    };
    return model;
  });
}

TEST(SubmissionsModel, ARangeComesWholeAndInOrder) {
  expectRight([] {
    auto submitted = std::make_shared<Submissions<ModelAtomics>>(4);
    auto data = std::make_shared<ModelAtomic<int>>();
    auto taken = std::make_shared<std::vector<std::int32_t>>();
    auto early = std::make_shared<bool>(false);
    const auto take = [=](std::int32_t n) {
      if (n > 0 && data->load(std::memory_order_relaxed) != 1) *early = true;
      taken->push_back(n);
    };
    ModelCase model;
    model.threads = {[=] {
                       data->store(1, std::memory_order_relaxed);
                       submitted->push(1, 3);
                     },
                     [=] { submitted->push(0); }, [=] { submitted->takeAll(take); }};
    model.verdict = [=]() -> std::string {
      submitted->takeAll(take);
      if (*early) return "a number was taken before its data were there";
      std::erase(*taken, 0);
      return *taken == std::vector<std::int32_t>{1, 2, 3} ? "" : "a range was not taken whole and in order";
    };
    return model;
  });
}

/// A sleeper that waits until `conditions` flags are set, each by a thread of its own.
ModelCase sleepCase(int conditions) {
  auto parking = std::make_shared<Parking>();
  auto flags = std::make_shared<std::array<ModelAtomic<int>, 2>>();
  const auto all = [=] {
    for (int n = 0; n < conditions; ++n) {
      if ((*flags)[static_cast<std::size_t>(n)].load(std::memory_order_seq_cst) == 0) return false;
    }
    return true;
  };
  ModelCase model;
  model.threads.push_back([=] {
    while (!all()) {
      const Parking::Ticket ticket = parking->prepare();
      if (all()) {
        parking->cancel();
        return;
      }
      parking->sleep(ticket);
    }
  });
  for (int n = 0; n < conditions; ++n) {
    model.threads.push_back([=] {
      (*flags)[static_cast<std::size_t>(n)].store(1, std::memory_order_seq_cst);
      parking->notify();
    });
  }
  model.verdict = [] { return ""; };
  return model;
}

TEST(EventCountModel, NoWakeUpIsLostFromOneNotifierOrTwo) {
  expectRight([] { return sleepCase(1); });
  expectRight([] { return sleepCase(2); });
}

TEST(EventCountModel, TheConditionHasToBeStoredSeqCst) {
  expectWrongWithoutSeqCst([] { return sleepCase(1); });
}

TEST(EventCountModel, ANotificationEndsOneSleepAndOneNotifierIsToldSo) {
  expectRight([] {
    auto parking = std::make_shared<Parking>();
    auto told = std::make_shared<int>(0);
    auto ended = std::make_shared<int>(0);
    ModelCase model;
    model.threads = {[=] {
                       const Parking::Ticket ticket = parking->prepare();
                       if (parking->sleepFor(ticket, std::chrono::microseconds(1))) ++*ended;
                     },
                     [=] { *told += parking->notify() ? 1 : 0; },
                     [=] { *told += parking->notify() ? 1 : 0; }};
    model.verdict = [=] { return *told == *ended ? "" : "the count of sleepers would go wrong"; };
    return model;
  });
}

/// Two workers each complete their last node, store their count and sleep unless the sum is whole: see
/// WorkerPool.
TEST(EventCountModel, OfTwoWorkersThatGoToSleepOneSeesThatAllIsDone) {
  expectRight([] {
    struct Shared {
      std::array<Parking, 2> parkings;
      std::array<ModelAtomic<int>, 2> completed;
      ModelAtomic<int> sleepers{0};
      ModelAtomic<int> stopped{0};
    };
    auto s = std::make_shared<Shared>();
    const auto worker = [=](std::size_t me) {
      s->completed[me].store(1, std::memory_order_release);
      // No owner on this stack: where the explorer leaves an execution, it is not unwound.
      const auto whole = [&completed = s->completed] {
        return completed[0].load(std::memory_order_acquire) + completed[1].load(std::memory_order_acquire) ==
               2;
      };
      while (s->stopped.load(std::memory_order_relaxed) == 0) {
        if (whole()) {
          s->stopped.store(1, std::memory_order_seq_cst);
          s->parkings[1 - me].notify();
          return;
        }
        const Parking::Ticket ticket = s->parkings[me].prepare();
        s->sleepers.fetch_add(1, std::memory_order_seq_cst);
        if (s->stopped.load(std::memory_order_seq_cst) != 0 || whole()) {
          s->parkings[me].cancel();
        } else {
          s->parkings[me].sleep(ticket);
        }
      }
    };
    ModelCase model;
    model.threads = {[=] { worker(0); }, [=] { worker(1); }};
    model.verdict = [] { return ""; };
    return model;
  });
}

/// A worker that sleeps unless it has mail, and one that publishes twice, as Worker::publish and drain do.
ModelCase mailAndSleep(bool alwaysSetsBit) {
  struct Shared {
    Parking parking;
    SpscRing<ModelAtomics> ring{4};
    ModelAtomic<std::uint64_t> mail{0};
    int got = 0;
  };
  auto s = std::make_shared<Shared>();
  ModelCase model;
  model.threads = {[=] {
                     for (std::int32_t n = 0; n < 2; ++n) {
                       s->ring.stage(n);
                       s->ring.publish();
                       if (alwaysSetsBit || (s->mail.load(std::memory_order_seq_cst) & 1) == 0) {
                         s->mail.fetch_or(1, std::memory_order_seq_cst);
                       }
                       s->parking.notify();
                     }
                   },
                   [=] {
                     while (s->got < 2) {
                       if (s->mail.load(std::memory_order_relaxed) != 0) {
                         s->mail.exchange(0, std::memory_order_seq_cst);
                         s->ring.drain([&](std::int32_t) { ++s->got; });
                         continue;
                       }
                       const Parking::Ticket ticket = s->parking.prepare();
                       if (s->mail.load(std::memory_order_seq_cst) != 0) {
                         s->parking.cancel();
                       } else {
                         s->parking.sleep(ticket);
                       }
                     }
                   }};
  model.verdict = [=] { return s->got == 2 ? "" : "a number came twice"; };
  return model;
}

TEST(EventCountModel, MailIsSeenWhetherItsBitWasSetOrNot) {
  expectRight([] { return mailAndSleep(true); });
}

TEST(EventCountModel, MailIsMissedWhereABitThatLooksSetIsLeftAlone) {
  EXPECT_NE(Interleavings().explore([] { return mailAndSleep(false); }).fault, "");
}

}  // namespace
}  // namespace tessera::detail
