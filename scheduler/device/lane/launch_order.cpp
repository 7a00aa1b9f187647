#include "scheduler/device/lane/launch_order.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/text/contracts.hpp"

namespace tessera {

namespace {

/// A lane that launches nothing.
class Order {
 public:
  Order(const LanePlan& plan, std::int32_t largestBatch)
      : plan_(plan),
        largest_(static_cast<std::size_t>(largestBatch)),
        successors_(plan.tasks.size()),
        missing_(plan.tasks.size(), 0),
        after_(plan.tasks.size()) {
    std::int32_t kinds = 0;
    for (const LaneTask& task : plan.tasks) kinds = std::max(kinds, task.kind + 1);
    ready_.resize(static_cast<std::size_t>(kinds));
    for (const auto& [first, then] : plan.edges) {
      successors_[static_cast<std::size_t>(first)].push_back(then);
      ++missing_[static_cast<std::size_t>(then)];
    }
    for (std::size_t n = 0; n < plan.tasks.size(); ++n) {
      if (missing_[n] == 0) setReady(static_cast<std::int32_t>(n));
    }
  }

  std::vector<LaunchBatch> batches() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t kind = 0; kind < ready_.size(); ++kind) {
        if (ready_[kind].empty()) continue;
        any = true;
        launchKind(static_cast<std::int32_t>(kind));
      }
    }
    return std::move(batches_);
  }

 private:
  void setReady(std::int32_t task) {
    ready_[static_cast<std::size_t>(plan_.tasks[static_cast<std::size_t>(task)].kind)].push_back(task);
  }

  void launchKind(std::int32_t kind) {
    std::vector<std::int32_t> tasks = std::exchange(ready_[static_cast<std::size_t>(kind)], {});
    std::sort(tasks.begin(), tasks.end());
    for (std::size_t begin = 0; begin < tasks.size(); begin += largest_) {
      launch(kind, std::span(tasks).subspan(begin, std::min(largest_, tasks.size() - begin)));
    }
  }

  void launch(std::int32_t kind, std::span<const std::int32_t> tasks) {
    const auto number = static_cast<std::int32_t>(batches_.size());
    LaunchBatch& batch = batches_.emplace_back();
    batch.kind = kind;
    batch.streams = plan_.tasks[static_cast<std::size_t>(tasks.front())].streams;
    batch.tasks.assign(tasks.begin(), tasks.end());
    for (const std::int32_t task : tasks) {
      const auto& waits = after_[static_cast<std::size_t>(task)];
      batch.after.insert(batch.after.end(), waits.begin(), waits.end());
    }
    std::sort(batch.after.begin(), batch.after.end());
    batch.after.erase(std::unique(batch.after.begin(), batch.after.end()), batch.after.end());
    for (const std::int32_t task : tasks) end(task, number);
  }

  void end(std::int32_t task, std::int32_t batch) {
    for (const std::int32_t next : successors_[static_cast<std::size_t>(task)]) {
      auto& waits = after_[static_cast<std::size_t>(next)];
      if (waits.empty() || waits.back() != batch) waits.push_back(batch);
      if (--missing_[static_cast<std::size_t>(next)] == 0) setReady(next);
    }
  }

  const LanePlan& plan_;
  const std::size_t largest_;
  std::vector<std::vector<std::int32_t>> successors_;
  std::vector<std::int32_t> missing_;
  std::vector<std::vector<std::int32_t>> after_;  ///< by task: batches
  std::vector<std::vector<std::int32_t>> ready_;  ///< by kind
  std::vector<LaunchBatch> batches_;
};

}  // namespace

std::vector<LaunchBatch> launchOrder(const LanePlan& plan, std::int32_t largestBatch) {
  return Order(plan, largestBatch).batches();
}

std::vector<StreamedBatch> dealOut(std::vector<LaunchBatch> batches, std::int32_t streamCount) {
  std::vector<StreamedBatch> dealt;
  std::vector<std::int32_t> last(static_cast<std::size_t>(streamCount), -1);  // batch, by stream
  std::int32_t next = 0;
  for (LaunchBatch& batch : batches) {
    const auto number = static_cast<std::int32_t>(dealt.size());
    StreamedBatch& entry = dealt.emplace_back();
    entry.batch = std::move(batch);
    TESSERA_EXPECT(entry.batch.streams <= streamCount, "give each task at most the streams of the lane");
    for (auto before = entry.batch.after.rbegin();
         entry.batch.streams == 1 && entry.streams.empty() && before != entry.batch.after.rend(); ++before) {
      const std::int32_t stream = dealt[static_cast<std::size_t>(*before)].streams.front();
      if (last[static_cast<std::size_t>(stream)] == *before) entry.streams.push_back(stream);
    }
    while (std::ssize(entry.streams) < entry.batch.streams) {
      entry.streams.push_back(next);
      next = (next + 1) % streamCount;
    }
    for (const std::int32_t stream : entry.streams) last[static_cast<std::size_t>(stream)] = number;
  }
  return dealt;
}

}  // namespace tessera
