// Every interleaving of a sender and a receiver of several rounds, on the code that ships; and on threads.
#include <array>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "core/transport/detail/mailbox.hpp"
#include "tests/interleavings.hpp"

namespace tessera::detail {
namespace {

using test::Interleavings;
using test::ModelAtomic;
using test::ModelCase;
using test::ModelPlain;
using test::ModelResult;

constexpr int kRounds = 4;

struct Shared {
  Mailbox<ModelAtomic> mailbox;
  std::array<std::array<ModelPlain<int>, 2>, 2> slots;  ///< each of two words

  void write(int round) {
    for (auto& word : slots[Mailbox<>::slotOf(round)]) word = round;
  }
  void expectRound(int round) {
    for (const auto& word : slots[Mailbox<>::slotOf(round)]) {
      if (word != round) throw std::logic_error("the receiver reads another round");
    }
  }
};

/// Two phases a round: what is done at once, and a look that may come again.
template <class Begin, class Look>
void inRounds(const Begin& begin, const Look& look) {
  for (int round = 1; round <= kRounds; ++round) {
    const auto phase = static_cast<std::uint64_t>(2 * round);
    Interleavings::current()->beginTurn(phase);
    begin(round);
    do {
      Interleavings::current()->beginTurn(phase + 1);
    } while (!look(round));
  }
}

ModelCase sendAndReceive() {
  auto shared = std::make_shared<Shared>();
  ModelCase model;
  model.threads = {[&s = *shared] {
                     inRounds(
                         [&s](int round) {
                           s.write(round);
                           s.mailbox.fill(round);
                         },
                         [&s](int round) { return s.mailbox.isOpen(round); });
                   },
                   [&s = *shared] {
                     inRounds([&s](int round) { s.mailbox.open(round); },
                              [&s](int round) {
                                if (!s.mailbox.isFull(round)) return false;
                                s.expectRound(round);
                                return true;
                              });
                   }};
  model.verdict = [shared] { return ""; };
  return model;
}

TEST(MailboxModel, EachRoundIsReadWholeBeforeItsSlotIsWrittenAgain) {
  const ModelResult result = Interleavings().explore(sendAndReceive);
  EXPECT_EQ(result.fault, "") << "execution " << result.executions;
  EXPECT_GT(result.states, 100);
}

TEST(MailboxStress, TwoThreadsPassEveryRound) {
  constexpr std::int64_t kMany = 20'000;
  Mailbox<> mailbox;
  std::array<std::array<std::int64_t, 16>, 2> slots{};
  std::int64_t wrong = 0;
  std::thread receiver([&] {
    for (std::int64_t round = 1; round <= kMany; ++round) {
      mailbox.open(round);
      while (!mailbox.isFull(round)) std::this_thread::yield();
      for (const std::int64_t word : slots[Mailbox<>::slotOf(round)]) wrong += word == round ? 0 : 1;
    }
  });
  for (std::int64_t round = 1; round <= kMany; ++round) {
    slots[Mailbox<>::slotOf(round)].fill(round);
    mailbox.fill(round);
    while (!mailbox.isOpen(round)) std::this_thread::yield();
  }
  receiver.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::detail
