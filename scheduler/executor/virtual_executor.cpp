#include <string>
#include <utility>
#include <vector>

#include "core/text/error.hpp"
#include "scheduler/diagnostics/stall_report.hpp"
#include "scheduler/executor.hpp"
#include "scheduler/virtual_schedule.hpp"

namespace tessera {
namespace {

/// Draws from a seed which ready node runs next, when to look after messages, and when another rank goes on.
class VirtualExecutor : public Executor {
 public:
  VirtualExecutor(VirtualSchedule& schedule, int rank)
      : schedule_(schedule),
        rank_(rank),
        numbers_(SeededNumbers(schedule.seed() + 0x1000 * (static_cast<std::uint64_t>(rank) + 1)).next()) {}

  std::unique_ptr<Replay> prepare(NodeSource& source) override {
    return std::make_unique<VirtualReplay>(*this, source);
  }
  int threads() const override { return 1; }
  double waitSeconds() const override { return 0.0; }  // in virtual time no worker waits

 private:
  class VirtualReplay : public Replay {
   public:
    VirtualReplay(VirtualExecutor& executor, NodeSource& source) : executor_(executor), source_(source) {}
    void run() override { executor_.replay(source_); }

   private:
    VirtualExecutor& executor_;
    NodeSource& source_;
  };

  void replay(NodeSource& source) {
    begin(source);
    const VirtualSchedule::Account account(
        schedule_, rank_, [&](std::vector<detail::RankWait>& waits) { return tell(source, waits); });
    while (unfinished_ > 0) {
      if (ready_.empty() && begun_ == 0) throw InternalError(page(source));
      const bool looks = ready_.empty() || (begun_ > 0 && numbers_.below(4) == 0);
      bool gotOn = true;
      if (looks) {
        gotOn = lookAfterMessages(source);
      } else {
        runOne(source);
      }
      if (!gotOn || numbers_.below(4) == 0) schedule_.pass();
    }
  }

  void begin(NodeSource& source) {
    const auto counts = source.predecessorCounts();
    left_.assign(counts.begin(), counts.end());
    ready_.clear();
    unfinished_ = 0;
    begun_ = 0;
    for (std::int32_t n = 0; n < source.nodeCount(); ++n) {
      if (!source.traits(n, 1).used) continue;
      ++unfinished_;
      if (left_[static_cast<std::size_t>(n)] == 0) ready_.push_back(n);
    }
  }

  void runOne(NodeSource& source) {
    std::swap(ready_[numbers_.below(ready_.size())], ready_.back());
    const std::int32_t node = ready_.back();
    ready_.pop_back();
    if (source.run(node, 0)) {
      finish(source, node);
    } else {
      ++begun_;
    }
  }

  /// True: something has completed.
  bool lookAfterMessages(NodeSource& source) {
    const auto done = source.poll();
    begun_ -= std::ssize(done);
    for (const std::int32_t node : done) finish(source, node);
    return !done.empty();
  }

  void finish(NodeSource& source, std::int32_t node) {
    schedule_.gotOn();
    --unfinished_;
    for (const std::int32_t next : source.successors(node)) {
      if (--left_[static_cast<std::size_t>(next)] == 0) ready_.push_back(next);
    }
  }

  std::string page(NodeSource& source) const {
    return detail::stallReport(source, detail::standOf(source, left_, ready_), {});
  }

  std::string tell(NodeSource& source, std::vector<detail::RankWait>& waits) const {
    for (const std::int32_t node : source.begun()) {
      const int peer = source.waitsForRank(node);
      if (peer >= 0) waits.push_back({rank_, peer, source.describe(node)});
    }
    return page(source);
  }

  VirtualSchedule& schedule_;
  const int rank_;
  SeededNumbers numbers_;
  std::vector<std::int32_t> left_;
  std::vector<std::int32_t> ready_;
  std::int64_t unfinished_ = 0;
  std::int64_t begun_ = 0;  ///< nodes that `poll` has yet to report
};

}  // namespace

std::unique_ptr<Executor> makeVirtualExecutor(VirtualSchedule& schedule, int rank) {
  return std::make_unique<VirtualExecutor>(schedule, rank);
}

}  // namespace tessera
