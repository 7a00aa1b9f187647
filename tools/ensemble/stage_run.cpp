#include "tools/ensemble/stage_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

#include "core/text/error.hpp"

namespace tessera::ensemble {
namespace {

constexpr std::int64_t kMostInBundle = 64;
constexpr std::int64_t kAskTag = 1;
constexpr std::int64_t kDealTag = 2;

/// From a rank to rank 0: what it has done; asks for more.
struct Ask {
  std::int64_t count = 0;
  Row rows[kMostInBundle];
};

/// The answer. count 0: nothing now, ask again; -1: the stage is over.
struct Deal {
  std::int64_t count = 0;
  StageOutcome outcome;
  std::int64_t tasks[kMostInBundle] = {};
};

template <class T>
std::span<std::byte> bytesOf(T& value) {
  return std::as_writable_bytes(std::span<T>(&value, 1));
}

Row rowOf(const Stage& stage, const engine::Finished& finished) {
  Row row;
  row.index = static_cast<std::int64_t>(finished.tag);
  row.status = static_cast<std::int32_t>(finished.status);
  row.code = finished.code;
  if (finished.status != engine::TaskStatus::Done) return row;
  const std::vector<double> values = stage.kind->read(finished);
  std::copy_n(values.begin(), std::min(values.size(), Row::kResults), row.results);
  return row;
}

/// Hands tasks of a stage to this rank's engine and takes their results.
class LocalTasks {
 public:
  LocalTasks(const Stage& stage, engine::Engine& engine) : stage_(stage), engine_(engine) {}
  void add(std::int64_t index) { waiting_.push_back(index); }
  std::int64_t open() const { return std::ssize(waiting_) + inside_; }
  /// Calls `take(row)` for each task that has ended.
  template <class Take>
  void poll(const Take& take) {
    while (!waiting_.empty()) {
      const engine::Task task = stage_.kind->task(stage_.values(waiting_.front()));
      const auto tag = static_cast<std::uint64_t>(waiting_.front());
      if (engine_.push({&task, 1}, {&tag, 1}) == 0) break;
      ++inside_;
      waiting_.pop_front();
    }
    engine::Finished finished[kMostInBundle];
    const std::int64_t count = engine_.poll(finished);
    inside_ -= count;
    for (std::int64_t n = 0; n < count; ++n) take(rowOf(stage_, finished[n]));
    if (count == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  const Stage& stage_;
  engine::Engine& engine_;
  std::deque<std::int64_t> waiting_;
  std::int64_t inside_ = 0;
};

/// Rank 0 of a stage.
class Dealer {
 public:
  Dealer(const Stage& stage, std::int64_t retries, StageResults& results, engine::Engine& engine,
         Transport& transport)
      : retries_(retries), results_(results), transport_(transport), local_(stage, engine) {
    for (std::int64_t index = 0; index < stage.tasks(); ++index) {
      if (!results.isDone(index)) missing_.push_back({index, 0});
    }
    toDo_ = std::ssize(missing_);
    outcome_.done = results.doneCount();
    for (int rank = 1; rank < transport.size(); ++rank) {
      asks_.emplace_back();
      deals_.emplace_back();
      tries_.emplace_back();
    }
  }

  StageOutcome run(const std::function<void(const StageOutcome&)>& progress) {
    std::vector<Transport::Request> requests;
    for (int rank = 1; rank < transport_.size(); ++rank) requests.push_back(listen(rank));
    std::size_t dismissed = 0;
    auto shown = std::chrono::steady_clock::now();
    while (toDo_ > 0 || dismissed < asks_.size()) {
      for (std::size_t n = 0; n < asks_.size(); ++n) {
        if (requests[n] < 0 || !transport_.test(requests[n])) continue;
        for (std::int64_t row = 0; row < asks_[n].count; ++row) finish(asks_[n].rows[row], tries_[n]);
        deal(deals_[n], tries_[n]);
        transport_.wait(transport_.send(static_cast<int>(n) + 1, kDealTag, bytesOf(deals_[n])));
        const bool over = deals_[n].count < 0;
        dismissed += over ? 1 : 0;
        requests[n] = over ? -1 : listen(static_cast<int>(n) + 1);
      }
      if (local_.open() < 2) refill();
      local_.poll([this](const Row& row) { finish(row, localTries_); });
      const auto now = std::chrono::steady_clock::now();
      if (now - shown < std::chrono::seconds(1)) continue;
      shown = now;
      progress(outcome_);
    }
    return outcome_;
  }

 private:
  struct Piece {
    std::int64_t index = 0;
    std::int64_t tries = 0;
  };

  Transport::Request listen(int rank) {
    return transport_.receive(rank, kAskTag, bytesOf(asks_[static_cast<std::size_t>(rank) - 1]));
  }

  /// Bundles become smaller towards the end, so that all ranks end together.
  std::int64_t bundle() const {
    return std::clamp<std::int64_t>(std::ssize(missing_) / (4 * transport_.size()), 1, kMostInBundle);
  }

  void deal(Deal& deal, std::vector<Piece>& out) {
    deal.count = 0;
    deal.outcome = outcome_;
    for (std::int64_t n = bundle(); n > 0 && !missing_.empty(); --n) {
      out.push_back(missing_.front());
      deal.tasks[deal.count++] = missing_.front().index;
      missing_.pop_front();
    }
    if (deal.count == 0 && toDo_ == 0) deal.count = -1;
  }

  void refill() {
    for (std::int64_t n = bundle(); n > 0 && !missing_.empty(); --n) {
      localTries_.push_back(missing_.front());
      local_.add(missing_.front().index);
      missing_.pop_front();
    }
  }

  void finish(const Row& row, std::vector<Piece>& out) {
    const auto piece =
        std::find_if(out.begin(), out.end(), [&](const Piece& each) { return each.index == row.index; });
    if (piece == out.end()) throw InternalError("a rank has sent a result that it was not asked for");
    const std::int64_t tries = piece->tries + 1;
    out.erase(piece);
    if (row.status != 0 && tries <= retries_) {
      missing_.push_back({row.index, tries});
      return;
    }
    results_.add(row);
    ++(row.status == 0 ? outcome_.done : outcome_.failed);
    --toDo_;
  }

  std::int64_t retries_;
  StageResults& results_;
  Transport& transport_;
  LocalTasks local_;
  std::deque<Piece> missing_;
  std::int64_t toDo_ = 0;
  StageOutcome outcome_;
  std::deque<Ask> asks_;
  std::deque<Deal> deals_;
  std::deque<std::vector<Piece>> tries_;
  std::vector<Piece> localTries_;
};

StageOutcome serve(const Stage& stage, engine::Engine& engine, Transport& transport) {
  LocalTasks local(stage, engine);
  Ask ask;
  Deal deal;
  for (;;) {
    transport.wait(transport.send(0, kAskTag, bytesOf(ask)));
    transport.wait(transport.receive(0, kDealTag, bytesOf(deal)));
    if (deal.count < 0) return deal.outcome;
    ask.count = 0;
    for (std::int64_t n = 0; n < deal.count; ++n) local.add(deal.tasks[n]);
    while (local.open() > 0) local.poll([&](const Row& row) { ask.rows[ask.count++] = row; });
    if (deal.count == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

StageOutcome runStage(const Stage& stage, std::int64_t retries, StageResults* results, engine::Engine& engine,
                      Transport& transport, const std::function<void(const StageOutcome&)>& progress) {
  if (transport.rank() != 0) return serve(stage, engine, transport);
  return Dealer(stage, retries, *results, engine, transport).run(progress);
}

}  // namespace tessera::ensemble
