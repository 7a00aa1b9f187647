#include "tools/simulation/mesh_report.hpp"

#include <cstdio>

namespace tessera {
namespace {

void append(std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; }

std::string shortText(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

}  // namespace

MeshLines meshLinesOf(const Simulation& simulation) {
  MeshLines lines;
  for (const Level& level : simulation.hierarchy().levels()) {
    append(lines.cells, std::to_string(level.cellCount()));
    append(lines.patches, std::to_string(level.patches().size()));
    append(lines.imbalance, shortText(simulation.imbalance(level.number())));
  }
  return lines;
}

std::vector<std::pair<std::string, double>> meshStatistics(const Simulation& simulation) {
  std::vector<std::pair<std::string, double>> numbers;
  const auto levels = simulation.hierarchy().levels();
  const RegridCounts* regrids = simulation.regrids();
  for (const Level& level : levels) {
    if (levels.size() == 1) break;
    const std::string number = std::to_string(level.number());
    numbers.emplace_back("cells_level_" + number, static_cast<double>(level.cellCount()));
    numbers.emplace_back("patches_level_" + number, static_cast<double>(level.patches().size()));
  }
  numbers.emplace_back("imbalance", simulation.imbalance());
  if (regrids != nullptr) {
    numbers.emplace_back("regrids", static_cast<double>(regrids->regrids));
    numbers.emplace_back("mesh_changes", static_cast<double>(regrids->changes));
    numbers.emplace_back("regrid_seconds", regrids->seconds);
  }
  if (const BalanceCounts& balance = simulation.balance(); balance.changes > 0) {
    numbers.emplace_back("rebalances", static_cast<double>(balance.changes));
    numbers.emplace_back("rebalance_seconds", balance.seconds);
  }
  return numbers;
}

}  // namespace tessera
