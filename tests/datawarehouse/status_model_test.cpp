// Every interleaving of two or three threads on one status word, over the code that ships.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datawarehouse/status.hpp"
#include "tests/datawarehouse/interleavings.hpp"

namespace tessera {
namespace {

using ModelStatus = BasicStatus<ModelAtomic>;
constexpr int kDone = Interleavings::kDone;

// Cells of the models besides the word itself, which is cell 0.
enum : Interleavings::Cell { kWord, kPayload, kInside, kWinners, kLast, kCells };

void expect(bool condition, const char* claim) {
  if (!condition) throw std::logic_error(claim);
}

/// The word after `prepare`, by real atomics of one thread.
template <class Prepare>
std::vector<std::uint64_t> memoryAfter(Prepare&& prepare) {
  Interleavings alone;
  ModelAtomic<std::uint64_t>::search = &alone;
  std::vector<std::uint64_t> memory;
  const Interleavings::Turn turn = [&](Interleavings&, int, int) {
    ModelStatus status;
    prepare(status);
    return kDone;
  };
  alone.explore(
      std::vector<std::uint64_t>(kCells, 0), 1, turn, [&](const auto& end) { memory = end; }, 100);
  return memory;
}

template <class Script>
void exploreAll(std::vector<std::uint64_t> memory, int threads, Script&& script,
                const std::function<void(const std::vector<std::uint64_t>&)>& atEnd) {
  Interleavings search;
  ModelAtomic<std::uint64_t>::search = &search;
  const Interleavings::Turn turn = [&](Interleavings& model, int thread, int phase) {
    ModelStatus status;
    return script(model, status, thread, phase);
  };
  search.explore(std::move(memory), threads, turn, atEnd);
  ::testing::Test::RecordProperty("states", static_cast<int>(search.states()));
}

std::vector<std::uint64_t> fresh() { return std::vector<std::uint64_t>(kCells, 0); }

int mergeThenLeave(Interleavings& model, ModelStatus& status, int phase, int shares) {
  if (phase == 0) {
    if (status.claimMerge()) {
      expect(model.add(kWinners, 1) == 1, "one merger");
      expect(status.claimAllocation(kHost), "the merger is the one who allocates");
      model.add(kPayload, 1);
      status.finishAllocation(kHost);
      status.finishMerge(shares);
      return 1;
    }
    // The loser takes other work: its turn is over, and it comes back.
    return status.mergeState() == MergeState::Merged ? 1 : 0;
  }
  expect(status.state(kHost) == SpaceState::Allocated, "merged memory is there");
  expect(model.load(kPayload) == 1, "and made once");
  if (status.leave()) model.add(kLast, 1);
  return kDone;
}

TEST(StatusModel, ExactlyOneMergesAndTheLastOneOutIsOne) {
  for (const int threads : {2, 3}) {
    exploreAll(
        fresh(), threads,
        [&](Interleavings& model, ModelStatus& status, int, int phase) {
          return mergeThenLeave(model, status, phase, threads);
        },
        [](const auto& end) {
          expect(end[kWinners] == 1 && end[kLast] == 1, "one merger, one last");
          expect(end[kWord] >> 16 == 0, "alone again, with share count zero");
        });
  }
}

int gatherThenRead(Interleavings& model, ModelStatus& status, int phase) {
  if (phase == 0) {
    if (status.claimGather(kHost)) {
      expect(model.add(kInside, 1) == 1, "one gatherer at a time");
      model.add(kPayload, 1);
      model.add(kInside, -1);
      status.finishGather(kHost);
      return 1;
    }
    return status.hasHalo(kHost) ? 1 : 0;
  }
  expect(model.load(kPayload) == 1, "nobody reads the halo before it is there, and it is gathered once");
  return kDone;
}

void makeValid(ModelStatus& status, MemorySpace space) {
  expect(status.claimAllocation(space), "alone");
  status.finishAllocation(space);
  status.markValid(space);
}

TEST(StatusModel, ExactlyOneGathersAndNobodyReadsBefore) {
  const auto valid = memoryAfter([](ModelStatus& status) { makeValid(status, kHost); });
  for (const int threads : {2, 3}) {
    exploreAll(
        valid, threads,
        [](Interleavings& model, ModelStatus& status, int, int phase) {
          return gatherThenRead(model, status, phase);
        },
        [](const auto& end) { expect(end[kPayload] == 1, "gathered once"); });
  }
}

TEST(StatusModel, OneAllocatesAndOneCopiesIn) {
  exploreAll(
      fresh(), 3,
      [](Interleavings& model, ModelStatus& status, int, int phase) {
        const MemorySpace device = deviceSlot(2);
        if (phase == 0) {
          if (status.claimAllocation(device)) {
            expect(model.add(kWinners, 1) == 1, "one allocates");
            status.finishAllocation(device);
          }
          return status.state(device) >= SpaceState::Allocated ? 1 : 0;
        }
        if (status.claimCopy(device)) {
          expect(model.add(kPayload, 1) == 1, "one copies");
          status.finishCopy(device);
        }
        if (status.state(device) != SpaceState::Valid) return 1;
        expect(model.load(kPayload) == 1, "valid means copied");
        return kDone;
      },
      [](const auto& end) { expect(end[kWinners] == 1 && end[kPayload] == 1, "once each"); });
}

TEST(StatusModel, AnAllocationThatFailsIsTriedByTheNextOne) {
  exploreAll(
      fresh(), 3,
      [](Interleavings& model, ModelStatus& status, int thread, int phase) {
        if (phase == 0 && status.claimAllocation(kHost)) {
          if (thread == 0) {
            status.abandonAllocation(kHost);
            return kDone;
          }
          model.add(kPayload, 1);
          status.finishAllocation(kHost);
          return kDone;
        }
        return status.state(kHost) == SpaceState::Allocated ? kDone : 0;
      },
      [](const auto& end) { expect(end[kPayload] == 1, "somebody else has allocated"); });
}

int gatherOnHost(ModelStatus& status, int phase) {
  if (phase == 0) {
    expect(status.claimGather(kHost), "nobody else gathers");
    return 1;
  }
  if (phase == 1) {
    status.finishGather(kHost);
    return 2;
  }
  status.outdateHalo(kHost);
  return kDone;
}

int passThroughDevice(ModelStatus& status, int phase) {
  const MemorySpace device = deviceSlot(0);
  if (phase == 0) {
    expect(status.claimAllocation(device), "nobody else allocates");
    return 1;
  }
  if (phase == 1) {
    status.finishAllocation(device);
    return 2;
  }
  status.release(device);
  return kDone;
}

TEST(StatusModel, SpacesAndSharesDoNotDisturbOneAnother) {
  const auto valid = memoryAfter([](ModelStatus& status) {
    makeValid(status, kHost);
    expect(status.claimMerge(), "alone");
    status.finishMerge(2);
  });
  exploreAll(
      valid, 3,
      [](Interleavings& model, ModelStatus& status, int thread, int phase) {
        if (thread == 2) {
          if (status.leave()) model.add(kLast, 1);
          return phase == 0 ? 1 : kDone;
        }
        return thread == 0 ? gatherOnHost(status, phase) : passThroughDevice(status, phase);
      },
      [](const auto& end) {
        expect(end[kWord] == static_cast<std::uint64_t>(SpaceState::Valid), "only the host is valid");
        expect(end[kLast] == 1, "one last");
      });
}

TEST(StatusModel, AClaimByLoadAndStoreIsFoundOut) {
  // What the claim would be without compare-and-swap: the search has to see that two threads win.
  const auto racy = [](Interleavings& model, ModelStatus&, int, int) {
    if (model.load(kWord) != 0) return kDone;
    model.store(kWord, 1);
    expect(model.add(kWinners, 1) == 1, "one winner");
    return kDone;
  };
  EXPECT_THROW(exploreAll(fresh(), 2, racy, [](const auto&) {}), std::logic_error);
}

TEST(StatusModel, AThreadThatWaitsIsFoundOut) {
  const auto waits = [](Interleavings& model, ModelStatus&, int thread, int) {
    if (thread == 0) {
      model.store(kPayload, 1);
    } else {
      while (model.load(kPayload) == 0) {
      }
    }
    return kDone;
  };
  EXPECT_THROW(exploreAll(fresh(), 2, waits, [](const auto&) {}), std::logic_error);
}

}  // namespace
}  // namespace tessera
