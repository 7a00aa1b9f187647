#include "tools/tessera/trace/trace_summary.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tools/tessera/trace/trace_path.hpp"
#include "tools/tessera/trace/trace_waits.hpp"

namespace tessera {
namespace {

/// The smallest value that 99 of 100 do not exceed.
std::int64_t p99Of(std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const std::size_t place = (values.size() * 99 + 99) / 100 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

double meanOf(const std::vector<std::int64_t>& values) {
  const auto sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  return values.empty() ? 0.0 : static_cast<double>(sum) / static_cast<double>(values.size());
}

std::vector<TaskRow> tasksOf(const TraceModel& trace) {
  struct Samples {
    TraceKind kind = TraceKind::Task;
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> delays;
  };
  std::map<std::string, Samples> byName;
  for (const auto& [number, rank] : trace.ranks) {
    for (const auto& [run, steps] : rank.runs) {
      for (const auto& [id, node] : steps.nodes) {
        if (node.worker < 0 || node.onDevice) continue;
        Samples& samples = byName[node.name];
        samples.kind = node.kind;
        samples.times.push_back(node.end - node.begin);
        samples.delays.push_back(std::max<std::int64_t>(0, node.begin - node.ready));
      }
    }
  }
  std::vector<TaskRow> rows;
  for (auto& [name, samples] : byName) {
    TaskRow row;
    row.name = name;
    row.kind = samples.kind;
    row.count = static_cast<std::int64_t>(samples.times.size());
    row.total = std::accumulate(samples.times.begin(), samples.times.end(), std::int64_t{0});
    row.mean = meanOf(samples.times);
    row.p99 = p99Of(samples.times);
    row.delayMean = meanOf(samples.delays);
    row.delayP99 = p99Of(samples.delays);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TaskRow& a, const TaskRow& b) { return a.total > b.total; });
  return rows;
}

std::vector<PlanRow> plansOf(const TraceModel& trace) {
  std::map<std::int64_t, std::int64_t> longest;  // by run
  std::map<std::int64_t, std::string> names;
  std::map<std::string, PlanRow> byName;
  for (const auto& [number, rank] : trace.ranks) {
    for (const auto& [run, steps] : rank.runs) {
      names[run] = steps.plan;
      longest[run] = std::max(longest[run], steps.end - steps.begin);
      for (const auto& [id, node] : steps.nodes) {
        if (node.kind == TraceKind::Task && node.worker >= 0 && !node.onDevice)
          byName[steps.plan].tasks += node.end - node.begin;
      }
    }
  }
  for (const auto& [run, time] : longest) {
    PlanRow& row = byName[names[run]];
    ++row.runs;
    row.total += time;
  }
  std::vector<PlanRow> rows;
  for (auto& [name, row] : byName) {
    row.name = name;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PlanRow& a, const PlanRow& b) { return a.total > b.total; });
  return rows;
}

}  // namespace

std::vector<TimeShare> sharesOf(const std::map<std::string, std::int64_t>& times) {
  std::int64_t sum = 0;
  for (const auto& [name, time] : times) sum += time;
  std::vector<TimeShare> shares;
  for (const auto& [name, time] : times) {
    if (time == 0) continue;
    shares.push_back({name, time, static_cast<double>(time) / static_cast<double>(sum)});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const TimeShare& a, const TimeShare& b) { return a.nanoseconds > b.nanoseconds; });
  return shares;
}

TraceSummary summarise(const TraceModel& trace) {
  TraceSummary summary;
  summary.ranks = static_cast<int>(trace.ranks.size());
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const auto& [number, rank] : trace.ranks) {
    summary.workers += rank.runs.begin()->second.workers;
    summary.runs = std::max(summary.runs, static_cast<std::int64_t>(rank.runs.size()));
    first = std::min(first, rank.runs.begin()->second.begin);
    last = std::max(last, rank.runs.rbegin()->second.end);
  }
  summary.wall = last - first;
  summary.plans = plansOf(trace);
  summary.tasks = tasksOf(trace);
  summary.workerTime = sharesOf(workerTimes(trace));
  const std::map<std::string, std::int64_t> path = criticalPath(trace);
  for (const auto& [name, time] : path) summary.pathLength += time;
  summary.path = sharesOf(path);
  summary.devices = summariseDevices(trace);
  return summary;
}

}  // namespace tessera
