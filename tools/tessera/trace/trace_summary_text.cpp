#include <algorithm>
#include <iomanip>
#include <sstream>

#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera {
namespace {

/// "1.23 ms", four digits at most.
std::string timeText(double nanoseconds) {
  static constexpr struct {
    double size;
    const char* name;
  } kUnits[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}};
  for (const auto& unit : kUnits) {
    if (nanoseconds < 0.9995 * unit.size) continue;
    std::ostringstream out;
    out << std::setprecision(4) << nanoseconds / unit.size << unit.name;
    return out.str();
  }
  std::ostringstream out;
  out << std::setprecision(4) << nanoseconds << " ns";
  return out.str();
}
std::string timeText(std::int64_t nanoseconds) { return timeText(static_cast<double>(nanoseconds)); }

using Row = std::vector<std::string>;

/// The first column to the left, the others to the right.
void printTable(std::ostream& out, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      out << "  " << (c == 0 ? std::left : std::right) << std::setw(static_cast<int>(widths[c])) << row[c];
    }
    out << "\n";
  }
}

std::string fixedText(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value;
  return out.str();
}

void printShares(std::ostream& out, const std::vector<TimeShare>& shares) {
  std::vector<Row> rows;
  for (const TimeShare& share : shares) {
    rows.push_back({share.name, timeText(share.nanoseconds), fixedText(100.0 * share.share) + " %"});
  }
  printTable(out, rows);
}

void printPlans(std::ostream& out, const std::vector<PlanRow>& plans) {
  std::vector<Row> rows{{"Plan", "runs", "total", "mean", "in tasks"}};
  for (const PlanRow& row : plans) {
    const double mean =
        static_cast<double>(row.total) / static_cast<double>(std::max<std::int64_t>(row.runs, 1));
    rows.push_back(
        {row.name, std::to_string(row.runs), timeText(row.total), timeText(mean), timeText(row.tasks)});
  }
  printTable(out, rows);
}

std::string partText(std::int64_t part, std::int64_t whole) {
  const double share = whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  return timeText(part) + " (" + fixedText(100.0 * share) + " %)";
}

void printDevices(std::ostream& out, const std::vector<DeviceRow>& devices) {
  std::vector<Row> rows{{"Device", "time", "busy", "idle in steps", "idle between steps", "idle for output"}};
  for (const DeviceRow& row : devices) {
    rows.push_back({"rank " + std::to_string(row.rank) + " device " + std::to_string(row.device),
                    timeText(row.total()), partText(row.busy, row.total()),
                    partText(row.idleInSteps, row.total()), partText(row.idleBetween, row.total()),
                    partText(row.idleForOutput, row.total())});
  }
  printTable(out, rows);
}

void printLaunches(std::ostream& out, const std::vector<LaunchRow>& launches) {
  std::vector<Row> rows{{"On devices", "kind", "launches", "tasks", "total", "mean", "a task", "MB", "GB/s"}};
  for (const LaunchRow& row : launches) {
    const auto total = static_cast<double>(row.total);
    const auto each = [&](std::int64_t count) {
      return count > 0 ? timeText(total / static_cast<double>(count)) : std::string("-");
    };
    const bool counted = row.bytes > 0 && row.total > 0;
    const auto bytes = static_cast<double>(row.bytes);
    rows.push_back({row.name, row.kind, std::to_string(row.launches), std::to_string(row.tasks),
                    timeText(row.total), each(row.launches), each(row.tasks),
                    counted ? fixedText(bytes / 1e6) : "-", counted ? fixedText(bytes / total) : "-"});
  }
  printTable(out, rows);
}

}  // namespace

std::string asText(const TraceSummary& summary) {
  std::ostringstream out;
  out << summary.runs << " run(s) of a plan on " << summary.ranks << " rank(s) with " << summary.workers
      << " worker(s) in total, " << timeText(summary.wall) << "\n";
  out << "\nCritical path, " << timeText(summary.pathLength) << ":\n";
  printShares(out, summary.path);
  out << "\nTime of the workers:\n";
  printShares(out, summary.workerTime);
  out << "\n";
  printPlans(out, summary.plans);
  out << "\n";
  std::vector<Row> rows{{"Task", "count", "total", "mean", "p99", "start delay", "p99"}};
  for (const TaskRow& row : summary.tasks) {
    rows.push_back({row.name, std::to_string(row.count), timeText(row.total), timeText(row.mean),
                    timeText(row.p99), timeText(row.delayMean), timeText(row.delayP99)});
  }
  printTable(out, rows);
  if (summary.devices.devices.empty()) return out.str();
  out << "\n";
  printDevices(out, summary.devices.devices);
  out << "\n";
  printLaunches(out, summary.devices.launches);
  return out.str();
}

}  // namespace tessera
