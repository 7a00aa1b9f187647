#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/transport/detail/loopback_collective.hpp"
#include "core/transport/detail/loopback_delay.hpp"
#include "core/transport/detail/loopback_mail.hpp"
#include "core/transport/detail/request_table.hpp"
#include "core/transport/detail/single_thread_gate.hpp"
#include "core/transport/loopback_transport.hpp"

namespace tessera::detail {

using Lock = std::unique_lock<std::mutex>;

/// What all ranks of a loopback world share. The mutex is held around every access and every member function.
struct LoopbackState {
  LoopbackState(int ranks, const LoopbackOptions& theOptions)
      : size(ranks),
        options(theOptions),
        delays(theOptions.delaySeed, theOptions.maxDelay),
        reductions(ranks),
        collectives(ranks),
        ended(static_cast<std::size_t>(ranks), false) {}

  /// Throws PeerFailed once a rank has failed.
  void checkFailure() const;
  /// The first call counts; wakes everyone up.
  void markFailed(int rank, std::string_view why);
  bool hasEnded(int rank) const { return ended[static_cast<std::size_t>(rank)]; }
  /// The first rank that has ended without coming to the round; -1 where none.
  int absentee(const RoundSequence& rounds, std::int64_t round) const;

  mutable std::mutex mutex;
  std::condition_variable changed;  ///< a rank came to a collective, ended or failed
  const int size;
  const LoopbackOptions options;
  const LoopbackDelay delays;
  LoopbackMail mail;
  RoundSequence reductions;
  RoundSequence collectives;
  std::vector<bool> ended;
  int failedRank = -1;
  std::string failedWhy;
};

/// A pending operation of one rank.
struct LoopbackOperation {
  enum class Kind { Send, Receive, Reduce };
  Kind kind = Kind::Send;
  int delay = 0;                     ///< further tests until it may complete
  std::shared_ptr<Letter> letter{};  ///< of a send
  std::shared_ptr<Posted> posted{};  ///< of a receive
  std::span<const std::byte> sending{};
  std::span<std::byte> receiving{};  ///< or the values of a reduction
  Reduction reduction = Reduction::Min;
  std::int64_t round = 0;
};

/// One rank's end of the loopback world.
class LoopbackRank final : public Transport {
 public:
  LoopbackRank(LoopbackState& state, int rank) : state_(state), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return state_.size; }
  std::int64_t tagBound() const override { return state_.options.tagBound; }
  Request send(int peer, std::int64_t tag, std::span<const std::byte> bytes) override;
  Request receive(int peer, std::int64_t tag, std::span<std::byte> bytes) override;
  Request allReduceMin(std::span<double> values) override;
  Request allReduceMax(std::span<double> values) override;
  Request allReduceSum(std::span<std::int64_t> values) override;
  bool test(Request request) override;
  void barrier() override;
  void broadcast(std::string& bytes, int root) override;
  std::vector<std::string> gather(std::string_view bytes, int root) override;
  [[noreturn]] void abort(int exitCode) override;

  /// The mutex of the state is held around these two.
  std::int64_t liveRequests() const { return requests_.live(); }
  const LoopbackStatistics& statistics() const { return statistics_; }

 private:
  void stepAside() override;
  Request add(LoopbackOperation operation);
  Request reduce(Reduction reduction, std::span<std::byte> values, std::size_t count);
  /// Throws where it never can, because the other side has ended.
  bool canComplete(const LoopbackOperation& op) const;
  void complete(const LoopbackOperation& op);
  void takeLetter(const LoopbackOperation& op);
  /// A blocking round of all ranks; `take` reads the result.
  template <class Take>
  void exchange(const std::string& what, std::string part, const Take& take);

  LoopbackState& state_;
  const int rank_;
  SingleThreadGate gate_;
  RequestTable<LoopbackOperation> requests_;
  LoopbackStatistics statistics_;
  std::int64_t openSends_ = 0;
};

}  // namespace tessera::detail
