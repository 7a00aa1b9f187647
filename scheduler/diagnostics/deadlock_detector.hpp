#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/diagnostics/stall_report.hpp"

namespace tessera::detail {

/// Lets the ranks of a job tell each other what they wait for, once, when a step makes no progress: only
/// together do they know whether they wait in a cycle. What it needs is made ready at the start, so that
/// nothing has to be agreed on when something is wrong. Made by all ranks in the same order; the thread rule
/// is that of the transport.
class DeadlockDetector {
 public:
  /// Each rank sends to each other rank, so larger jobs do without.
  static constexpr int kMostRanks = 16;

  /// Nothing where there is one rank, or too many.
  static std::unique_ptr<DeadlockDetector> between(Transport& transport);

  /// A line about a cycle of ranks as soon as one shows; after `limit`, or when all have answered, one about
  /// ranks that have not, where there are any. Begins with a line break; empty where there is nothing to say.
  /// Answers once.
  std::string tell(const std::vector<RankWait>& mine, std::chrono::duration<double> limit);

 private:
  explicit DeadlockDetector(Transport& transport);
  void say(const std::vector<RankWait>& mine);

  Transport& transport_;
  std::vector<int> peers_;
  std::unique_ptr<PreparedMessages> messages_;  ///< to each of `peers_`, then from each
  bool hasTalked_ = false;
};

}  // namespace tessera::detail
