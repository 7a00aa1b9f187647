#include "tools/simulation/balance/load_balance.hpp"

#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "tools/simulation/agreement.hpp"

namespace tessera {
namespace {

/// Seconds that a patch has cost, as ranks send it.
struct SentCost {
  std::int64_t patch;
  double seconds;
};

/// What all ranks say of their patches, by patch.
std::vector<double> gathered(Transport& transport, const std::string& own, std::int64_t patches) {
  std::vector<double> seconds(static_cast<std::size_t>(patches), 0.0);
  for (const std::string& ofRank : transport.allGather(own)) {
    for (std::size_t at = 0; at + sizeof(SentCost) <= ofRank.size(); at += sizeof(SentCost)) {
      SentCost sent;
      std::memcpy(&sent, ofRank.data() + at, sizeof sent);
      seconds[static_cast<std::size_t>(sent.patch)] += sent.seconds;
    }
  }
  return seconds;
}

double sumOf(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace

LoadBalance::LoadBalance(const BalanceSettings& settings, std::vector<double> stepsOfLevel, bool takeTurns,
                         Transport& transport, int threads)
    : settings_(settings),
      stepsOfLevel_(std::move(stepsOfLevel)),
      takeTurns_(takeTurns),
      transport_(transport),
      threads_(threads) {}

void LoadBalance::standsOn(const OwnedMesh& mesh, std::int64_t step) {
  if (!costs_.empty()) costs_ = costsOf(*mesh.hierarchy);
  known_ = mesh.hierarchy;
  before_.clear();
  stepBefore_ = step;
}

void LoadBalance::measure(const OwnedMesh& mesh, const CompiledGraphs& graphs, const PatchCosts& costs,
                          std::int64_t step) {
  if (step <= stepBefore_) return;
  const auto steps = static_cast<double>(step - stepBefore_);
  before_.resize(costs.seconds.size(), 0.0);
  std::string own;
  for (std::size_t local = 0; local < costs.seconds.size(); ++local) {
    const PatchId patch = graphs.ownPatches[local];
    if (patch < 0) continue;  // a spare slot
    const double measured = (costs.seconds[local] - before_[local]) / steps;
    const SentCost sent{patch, given_ ? given_(patch, step) : measured};
    own.append(reinterpret_cast<const char*>(&sent), sizeof sent);
  }
  before_ = costs.seconds;
  stepBefore_ = step;
  std::vector<double> seconds = gathered(transport_, own, mesh.hierarchy->patchCount());
  secondsPerCost_ = sumOf(seconds) / sumOf(costsByCells(*mesh.hierarchy, stepsOfLevel_));
  if (!settings_.measures) return;
  const bool isFirst = costs_.empty();
  for (std::size_t patch = 0; !isFirst && patch < seconds.size(); ++patch)
    seconds[patch] = settings_.memory * costs_[patch] + (1.0 - settings_.memory) * seconds[patch];
  costs_ = std::move(seconds);
}

std::vector<double> LoadBalance::costsOf(const Hierarchy& hierarchy) const {
  if (costs_.empty()) return costsByCells(hierarchy, stepsOfLevel_);
  if (known_->hash() == hierarchy.hash()) return costs_;
  return costsOn(hierarchy, *known_, costs_);
}

RankMap LoadBalance::ownersOf(const Hierarchy& hierarchy) const {
  return dealOut(hierarchy, costsOf(hierarchy), transport_.size(), settings_.rules);
}

double LoadBalance::secondsOfStep(const OwnedMesh& mesh, const RankMap& owners) const {
  const double cost =
      costOfStep(*mesh.hierarchy, owners, costsOf(*mesh.hierarchy), transport_.size(), takeTurns_);
  return (costs_.empty() ? secondsPerCost_ : 1.0) * cost / threads_;
}

std::optional<RankMap> LoadBalance::betterOwners(const OwnedMesh& mesh, double price) {
  RankMap next = ownersOf(*mesh.hierarchy);
  const std::vector<double> costs = costsOf(*mesh.hierarchy);
  look_.imbalance = imbalanceOf(*mesh.hierarchy, mesh.owners, costs, transport_.size());
  look_.nextImbalance = imbalanceOf(*mesh.hierarchy, next, costs, transport_.size());
  look_.gain =
      static_cast<double>(settings_.every) * (secondsOfStep(mesh, mesh.owners) - secondsOfStep(mesh, next));
  look_.price = largestOf(transport_, price);
  const bool pays = settings_.always ? look_.gain > 0.0 : look_.gain > look_.price;
  if (!pays || next == mesh.owners) return {};
  return next;
}

}  // namespace tessera
