#include <algorithm>
#include <iomanip>
#include <sstream>

#include "tools/tessera/trace_summary.hpp"

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

void printShares(std::ostream& out, const std::vector<TimeShare>& shares) {
  std::vector<Row> rows;
  for (const TimeShare& share : shares) {
    std::ostringstream part;
    part << std::fixed << std::setprecision(1) << 100.0 * share.share << " %";
    rows.push_back({share.name, timeText(share.nanoseconds), part.str()});
  }
  printTable(out, rows);
}

}  // namespace

std::string asText(const TraceSummary& summary) {
  std::ostringstream out;
  out << summary.runs << " run(s) of a plan on " << summary.ranks << " rank(s) with " << summary.workers
      << " worker(s) in all, " << timeText(summary.wall) << "\n";
  out << "\nCritical path, " << timeText(summary.pathLength) << ":\n";
  printShares(out, summary.path);
  out << "\nTime of the workers:\n";
  printShares(out, summary.workerTime);
  out << "\n";
  std::vector<Row> rows{{"Task", "count", "total", "mean", "p99", "start delay", "p99"}};
  for (const TaskRow& row : summary.tasks) {
    rows.push_back({row.name, std::to_string(row.count), timeText(row.total), timeText(row.mean),
                    timeText(row.p99), timeText(row.delayMean), timeText(row.delayP99)});
  }
  printTable(out, rows);
  return out.str();
}

}  // namespace tessera
