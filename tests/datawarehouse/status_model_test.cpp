// Every interleaving of two or three threads on one status word, over the code that ships.
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "datawarehouse/status.hpp"
#include "tests/interleavings.hpp"

namespace tessera {
namespace {

using test::Interleavings;
using test::ModelAtomic;
using test::ModelCase;
using test::ModelResult;
using ModelStatus = BasicStatus<ModelAtomic>;
using Number = ModelAtomic<std::uint64_t>;

constexpr int kDone = -1;

void expect(bool condition, const char* claim) {
  if (!condition) throw std::logic_error(claim);
}

/// The word, and what the threads do under its protection.
struct Shared {
  ModelStatus status;
  Number payload;
  Number inside;
  Number winners;

  /// The value afterwards.
  static std::uint64_t add(Number& number, std::uint64_t by) {
    return number.fetch_add(by, std::memory_order_relaxed) + by;
  }
  /// Plain memory of the product, so no more than relaxed here.
  static std::uint64_t read(const Number& number) { return number.load(std::memory_order_relaxed); }
  static void write(Number& number, std::uint64_t value) { number.store(value, std::memory_order_relaxed); }
};

/// One turn of a thread: from phase to phase, until kDone. It does not wait; who cannot go on returns the
/// same phase.
using Script = std::function<int(Shared&, int thread, int phase)>;
using Look = std::function<void(Shared&)>;

/// All interleavings of `threads` that follow the script, from what `prepare` leaves.
ModelResult explore(int threads, const Look& prepare, const Script& script, const Look& atEnd) {
  return Interleavings().explore([&] {
    auto shared = std::make_shared<Shared>();
    prepare(*shared);
    ModelCase model;
    for (int t = 0; t < threads; ++t) {
      model.threads.push_back([&script, &shared = *shared, t] {
        for (int phase = 0; phase != kDone; phase = script(shared, t, phase)) {
          Interleavings::current()->beginTurn(static_cast<std::uint64_t>(phase));
        }
      });
    }
    model.verdict = [shared, &atEnd]() -> std::string {
      try {
        atEnd(*shared);
      } catch (const std::exception& error) {
        return error.what();
      }
      return "";
    };
    return model;
  });
}

void exploreAll(int threads, const Look& prepare, const Script& script, const Look& atEnd) {
  const ModelResult result = explore(threads, prepare, script, atEnd);
  EXPECT_EQ(result.fault, "") << "in execution " << result.executions;
  EXPECT_GT(result.states, 20);
}

void fresh(Shared&) {}

void makeValid(ModelStatus& status, MemorySpace space) {
  expect(status.claimAllocation(space), "alone");
  status.finishAllocation(space);
  status.markValid(space);
}

int allocateThenRead(Shared& s, int phase) {
  ModelStatus& status = s.status;
  if (phase == 0) {
    if (status.claimAllocation(kHost)) {
      expect(Shared::add(s.winners, 1) == 1, "one allocates");
      Shared::add(s.payload, 1);
      status.finishAllocation(kHost);
      status.markValid(kHost);
      return 1;
    }
    // The loser takes other work: its turn is over, and it comes back.
    return status.state(kHost) == SpaceState::Valid ? 1 : 0;
  }
  expect(Shared::read(s.payload) == 1, "valid memory is there, and made once");
  return kDone;
}

TEST(StatusModel, ExactlyOneAllocatesAndNobodyReadsBefore) {
  for (const int threads : {2, 3}) {
    exploreAll(
        threads, fresh, [](Shared& s, int, int phase) { return allocateThenRead(s, phase); },
        [](Shared& s) { expect(Shared::read(s.winners) == 1, "one winner"); });
  }
}

TEST(StatusModel, AnAllocationThatFailsIsTriedByTheNextOne) {
  exploreAll(
      3, fresh,
      [](Shared& s, int thread, int phase) {
        ModelStatus& status = s.status;
        if (phase == 0 && status.claimAllocation(kHost)) {
          if (thread == 0) {
            status.abandonAllocation(kHost);
            return kDone;
          }
          Shared::add(s.payload, 1);
          status.finishAllocation(kHost);
          return kDone;
        }
        return status.state(kHost) == SpaceState::Allocated ? kDone : 0;
      },
      [](Shared& s) { expect(Shared::read(s.payload) == 1, "somebody else has allocated"); });
}

int passThrough(ModelStatus& status, MemorySpace space, int phase) {
  if (phase == 0) {
    expect(status.claimAllocation(space), "nobody else allocates");
    return 1;
  }
  if (phase == 1) {
    status.finishAllocation(space);
    return 2;
  }
  status.release(space);
  return kDone;
}

TEST(StatusModel, SpacesDoNotDisturbOneAnother) {
  exploreAll(
      3, [](Shared& s) { makeValid(s.status, kHost); },
      [](Shared& s, int thread, int phase) {
        if (thread < 2) return passThrough(s.status, deviceSlot(thread), phase);
        expect(s.status.state(kHost) == SpaceState::Valid, "the host is valid all the time");
        return phase == 0 ? 1 : kDone;
      },
      [](Shared& s) {
        expect(s.status.state(kHost) == SpaceState::Valid, "the host is valid");
        for (int slot = 0; slot < 2; ++slot) {
          expect(s.status.state(deviceSlot(slot)) == SpaceState::None, "and nothing else is there");
        }
      });
}

TEST(StatusModel, AWriterLeavesOneSpaceValidWhateverHappensInTheOthers) {
  const auto validOnBoth = [](Shared& s) {
    makeValid(s.status, kHost);
    makeValid(s.status, deviceSlot(0));
  };
  exploreAll(
      3, validOnBoth,
      [](Shared& s, int thread, int phase) {
        ModelStatus& status = s.status;
        if (thread == 0) {
          status.wrote(deviceSlot(0));
          return kDone;
        }
        if (thread == 1) {
          // There is no moment in which no space is valid.
          const bool host = status.state(kHost) == SpaceState::Valid;
          expect(host || status.state(deviceSlot(0)) == SpaceState::Valid, "the values are somewhere");
          return phase == 0 ? 1 : kDone;
        }
        const MemorySpace other = deviceSlot(1);
        if (phase == 0) {
          expect(status.claimAllocation(other), "nobody else allocates");
          return 1;
        }
        status.finishAllocation(other);
        return kDone;
      },
      [](Shared& s) {
        expect(s.status.state(kHost) == SpaceState::Allocated &&
                   s.status.state(deviceSlot(0)) == SpaceState::Valid &&
                   s.status.state(deviceSlot(1)) == SpaceState::Allocated,
               "valid where it was written only");
      });
}

TEST(StatusModel, AClaimByLoadAndStoreIsFoundOut) {
  // What the claim would be without compare-and-swap: the search has to see that two threads win.
  const auto racy = [](Shared& s, int, int) {
    if (Shared::read(s.inside) != 0) return kDone;
    Shared::write(s.inside, 1);
    expect(Shared::add(s.winners, 1) == 1, "one winner");
    return kDone;
  };
  EXPECT_EQ(explore(2, fresh, racy, fresh).fault, "one winner");
}

TEST(StatusModel, AThreadThatWaitsInsideATurnIsFoundOut) {
  const auto waits = [](Shared& s, int thread, int) {
    if (thread == 0) {
      Shared::write(s.payload, 1);
    } else {
      while (Shared::read(s.payload) == 0) {
      }
    }
    return kDone;
  };
  EXPECT_EQ(explore(2, fresh, waits, fresh).fault, "a thread waits for others inside of a turn");
}

TEST(StatusModel, ThreadsThatComeBackForEverAreFoundOut) {
  const auto comesBack = [](Shared& s, int thread, int) {
    if (thread == 0) return kDone;
    return Shared::read(s.payload) == 0 ? 0 : kDone;
  };
  EXPECT_EQ(explore(2, fresh, comesBack, fresh).fault,
            "the threads come back for ever, and none of them gets on");
}

}  // namespace
}  // namespace tessera
